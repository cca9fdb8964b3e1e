//! JUnit XML, for build servers: one test case per planned trial. What failed is a failure, what
//! faulted an error, what has no result is skipped.

use std::fmt::{self, Display};

use agon_core::verdict::Outcome;

use crate::asked::models;
use crate::error::ReportError;
use crate::measured::MeasuredSpread;
use crate::run_report::{RunReport, Trial};
use crate::text::{is_unseen, measured_range, value};
use crate::usage::UsageTotal;

pub(crate) fn render(runs: &[RunReport<'_>]) -> Result<String, ReportError> {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for run in runs {
        open_suite(&mut out, run);
        run.each_trial(|trial| out.push_str(&test_case(run, &trial)))?;
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    Ok(out)
}

fn open_suite(out: &mut String, run: &RunReport<'_>) {
    let (manifest, overall) = (run.manifest, &run.summary.overall);
    let name = format!("{} by {}", run.suites(), manifest.agent.spec);
    out.push_str(&format!(
        "  <testsuite name=\"{}\" id=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\" timestamp=\"{}\">\n    <properties>\n",
        Xml(&name),
        Xml(&manifest.run),
        overall.trials,
        overall.failed,
        overall.faulted,
        overall.missing,
        overall.seconds.total(),
        manifest.created
    ));
    let mut property = |name: &str, value: &str| {
        out.push_str(&format!(
            "      <property name=\"{name}\" value=\"{}\"/>\n",
            Xml(value)
        ));
    };
    property("agon", &manifest.agon);
    property("agent", &manifest.agent.spec);
    if !manifest.models.is_empty() {
        property("model", &models(manifest));
    }
    if let Some(judge) = &manifest.judge {
        property("judge", &judge.model.name);
        property("judge_votes", &judge.votes.to_string());
    }
    property("unconfined_agent", &manifest.agent.unconfined.to_string());
    property("seed", &manifest.seed.to_string());
    property("score_floor", &overall.score_floor.to_string());
    property("coverage", &overall.coverage.to_string());
    if let Some(score) = overall.score {
        property("score", &score.to_string());
    }
    property("never_ended", &run.summary.marks.never_ended.to_string());
    if let Some(draws) = &run.summary.draws {
        property("further_draws", &draws.attempts.to_string());
        property("further_draws_passed", &draws.passed.to_string());
    }
    if let Some(measured) = &run.summary.measured {
        property("measured", &spread(&measured.overall));
        for task in &measured.tasks {
            property(
                "measured_task",
                &format!("{}: {}", task.task, spread(&task.spread)),
            );
        }
    }
    property("tokens", &run.summary.usage.tokens_text());
    property("money", &run.summary.usage.money_text());
    if let Some(judge) = &run.summary.judge {
        property("judge_tokens", &judge.tokens_text());
        property("judge_money", &judge.money_text());
    }
    if let Some(people) = &run.summary.people {
        property("reviewed", &people.reviewed.to_string());
        property("disagreements", &people.disagreed().to_string());
        if let Some(rate) = people.disagreement {
            property("disagreement", &rate.to_string());
        }
    }
    for caveat in &run.summary.caveats {
        property("caveat", &caveat.text);
    }
    out.push_str("    </properties>\n");
}

fn spread(measured: &MeasuredSpread) -> String {
    format!(
        "n {}, IQM {} ({}), min {}, median {}, max {}",
        measured.trials,
        value(measured.iqm),
        measured_range(measured.iqm_ci),
        value(measured.min),
        value(measured.median),
        value(measured.max)
    )
}

fn test_case(run: &RunReport<'_>, trial: &Trial<'_>) -> String {
    let id = trial.task.task.id();
    let name = if run.manifest.epochs > 1 {
        format!("{id}#{}", trial.epoch)
    } else {
        id.to_owned()
    };
    let seconds = trial.line.as_ref().map_or(0.0, |line| line.seconds.total());
    let opened = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
        Xml(trial.task.task.category()),
        Xml(&name)
    );
    let why = trial.why();
    let result = match trial.line.as_ref().map(|line| (line, line.outcome)) {
        None => format!("      <skipped message=\"{}\"/>\n", Xml(&why)),
        Some((_, Outcome::Passed)) => String::new(),
        Some((line, Outcome::Failed)) => format!(
            "      <failure type=\"failed\" message=\"{}\">score {}, {} steps</failure>\n",
            Xml(&why),
            line.score,
            line.steps
        ),
        Some((line, Outcome::Faulted)) => format!(
            "      <error type=\"{}\" message=\"{}\"/>\n",
            line.fault
                .as_ref()
                .map_or("fault", |fault| fault.class.name()),
            Xml(&why)
        ),
    };
    let mut marks = trial.marks().join(", ");
    if trial.passed() && !why.is_empty() {
        // A pass has no other place for signs of tampering.
        marks = format!("{marks}: {why}");
    }
    let marked = if marks.is_empty() {
        String::new()
    } else {
        format!("      <system-out>{}</system-out>\n", Xml(&marks))
    };
    let inside = [properties(trial), result, marked].concat();
    if inside.is_empty() {
        format!("{opened}/>\n")
    } else {
        format!("{opened}>\n{inside}    </testcase>\n")
    }
}

/// What was measured and used, as far as it is known.
fn properties(trial: &Trial<'_>) -> String {
    let used = trial.line.as_ref().map(|line| UsageTotal::of(&line.usage));
    let used = used.filter(|used| used.reported > 0);
    let counted = |count: u32| (count > 0).then(|| count.to_string());
    let all = [
        ("never_ended", counted(trial.never_ended)),
        ("further_draws", counted(trial.drawn.attempts)),
        ("further_draws_passed", counted(trial.drawn.passed)),
        ("measured", trial.measured().map(|value| value.to_string())),
        ("tokens", used.as_ref().map(UsageTotal::tokens_text)),
        ("money", used.as_ref().map(UsageTotal::money_text)),
        ("human", trial.said()),
        (
            "checks",
            trial
                .review
                .as_ref()
                .and(trial.checks)
                .map(|o| o.to_string()),
        ),
    ];
    let known: String = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .map(|(name, value)| {
            let value = Xml(&value);
            format!("        <property name=\"{name}\" value=\"{value}\"/>\n")
        })
        .collect();
    if known.is_empty() {
        return known;
    }
    format!("      <properties>\n{known}      </properties>\n")
}

/// A foreign text as XML text or attribute. Characters that XML 1.0 can't hold, even escaped, or
/// that nobody would see show as U+FFFD.
struct Xml<'a>(&'a str);

impl Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&apos;")?,
                // Written raw, a reader would turn these into spaces.
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(c))?,
                c if is_unseen(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char(char::REPLACEMENT_CHARACTER)?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(
            Xml("<a b='c'>&\"\n\x1b]]>").to_string(),
            "&lt;a b=&apos;c&apos;&gt;&amp;&quot;&#10;\u{fffd}]]&gt;"
        );
    }

    proptest! {
        #[test]
        fn nothing_escapes_the_attribute(text in any::<String>()) {
            let written = Xml(&text).to_string();
            prop_assert!(!written.contains(['<', '>', '"', '\'']));
            prop_assert!(!written.chars().any(char::is_control));
        }
    }
}
