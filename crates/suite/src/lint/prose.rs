//! Findings about checks that are prose, and about tasks that only such checks decide: nothing but reading
//! shows what is wrong with them.

use std::sync::LazyLock;

use agon_core::check::{Check, CheckKind, ProseSubject};
use agon_core::{EnvironmentKind, Task};
use regex::Regex;

use super::Severity;

type Found = (Severity, String);

/// A list of commands that ends with a comparison.
static DIFF: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|&&|\|\||;)\s*(?:diff|cmp)\s[^;&|]*$").ok());

/// A command that only tells of which version a program is.
static VERSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*\S+\s+(?:--version|-version|-v|-V)\s*$").ok());

static FORBIDDEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:do not|don't|never|must not) use (?:the )?(?:exec|run|terminal|shell|command line|keyboard|mouse)\b",
    )
    .ok()
});

pub(super) fn findings(task: &Task) -> Vec<Found> {
    if !task.needs_judge() {
        return Vec::new();
    }
    let mut found = Vec::new();
    task.checks.inspect(|checks| {
        commands(checks, &mut found);
        let answers = !checks.is_empty() && checks.iter().all(is_answer);
        if answers && task.environment.kind == EnvironmentKind::Desktop {
            found.push((
                Severity::Note,
                "only the answer is checked: one that is guessed or known by heart passes, whatever was \
                 done on the screen"
                    .to_owned(),
            ));
        }
    });
    if let Some(words) = first(&FORBIDDEN, task.instruction.show()) {
        found.push((
            Severity::Note,
            format!("the instruction forbids a tool (`{words}`): say it with `actions`, which is enforced"),
        ));
    }
    found
}

/// Commands whose output a judge is shown.
fn commands(checks: &[Check], found: &mut Vec<Found>) {
    for check in checks {
        let command = match &check.kind {
            CheckKind::Prose {
                subject: ProseSubject::CommandOutput { command },
                ..
            } => command,
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                commands(checks, found);
                continue;
            }
            _ => continue,
        };
        if first(&DIFF, command).is_some() {
            found.push((
                Severity::Warning,
                "a check ends in `diff`, which exits with 1 where files differ: OSUniverse then hides what it \
                 printed, and nothing passes there; end it with `; true`"
                    .to_owned(),
            ));
        }
        if let Some(asked) = first(&VERSION, command) {
            let asked = asked.trim();
            found.push((
                Severity::Warning,
                format!(
                    "a check only asks whether a program is there (`{asked}`): where the image brings it, \
                     doing nothing passes"
                ),
            ));
        }
    }
}

fn is_answer(check: &Check) -> bool {
    match &check.kind {
        CheckKind::ReturnedResult { .. } => true,
        CheckKind::Prose { subject, .. } => *subject == ProseSubject::ReturnedResult,
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => checks.iter().all(is_answer),
        _ => false,
    }
}

fn first(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    let found = pattern.as_ref()?.find(text)?;
    Some(found.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_at_the_end() {
        for (command, ends) in [
            ("a && diff x y", true),
            ("diff x y", true),
            ("cd b; cmp x y", true),
            ("diff x y; true", false),
            ("diff x y | cat", false),
            ("a && diff x y || true", false),
            ("git diff", false),
        ] {
            assert_eq!(first(&DIFF, command).is_some(), ends, "{command}");
        }
    }

    #[test]
    fn questions_for_a_version() {
        for (command, asks) in [
            ("convert -version", true),
            ("htop --version", true),
            ("convert -version && ls", false),
            ("cat version", false),
        ] {
            assert_eq!(first(&VERSION, command).is_some(), asks, "{command}");
        }
    }
}
