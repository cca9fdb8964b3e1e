//! Findings about what a task needs from the world outside: a network that it is not given, and days that go
//! by. Texts for people are only guessed at where no program checks the task; elsewhere playing shows more.

use std::sync::LazyLock;

use agon_core::check::{Check, CheckKind, ProseSubject};
use agon_core::environment::Network;
use agon_core::{EnvironmentKind, Task};
use regex::Regex;

use super::Severity;

type Found = (Severity, String);

/// Commands that fetch something. Addresses are looked for apart from them.
static FETCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(apk add|apt(?:-get)? (?:-\S+ )*(?:install|update)|(?:dnf|yum|zypper|brew|cargo|gem) install|pip3? install|npm (?:install|i|ci)|pacman -S|git clone|wget|curl)\b",
    )
    .ok()
});

static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bhttps?://([A-Za-z0-9.\[\]:-]+)").ok());

/// What people ask for when they mean the live network.
static ASKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:install (?:the )?['\x22]?[a-z0-9-]+|(?:google|wikipedia|duckduckgo|reddit|youtube)\b|search the (?:web|internet)|open browser\. search for)",
    )
    .ok()
});

static RELATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:in \d+ (?:day|week|month|year)s?|\d+ (?:day|week|month|year)s? (?:later|ago|from now)|today|tomorrow|yesterday|(?:next|last|this) (?:week|month|year)|what day it is|current (?:date|day|month|year))\b",
    )
    .ok()
});

pub(super) fn findings(task: &Task) -> Vec<Found> {
    let mut found = Vec::new();
    let place = &task.environment;
    let outside = place.kind != EnvironmentKind::None && place.network == Network::None;
    let setup = task.setup.as_deref().unwrap_or_default();
    // An address alone may only be written to a file; where programs check, playing shows which it is.
    let fetched =
        first(&FETCH, setup).or_else(|| live_address(setup).filter(|_| task.needs_judge()));
    if let (true, Some(what)) = (outside, &fetched) {
        found.push((
            Severity::Warning,
            format!(
                "the set-up needs the network (`{what}`), which is closed: put what it fetches into the \
                 image, or open it with environment.network"
            ),
        ));
    }
    if !task.needs_judge() {
        return found;
    }
    let instruction = task.instruction.show();
    let asked = live_address(instruction).or_else(|| first(&ASKED, instruction));
    if let (true, Some(what)) = (outside, &asked) {
        found.push((
            Severity::Warning,
            format!(
                "the instruction asks for the network (`{what}`), which is closed: serve it inside, or open \
                 it with environment.network"
            ),
        ));
    }
    if let Some(when) = first(&RELATIVE, instruction) {
        found.push((
            Severity::Warning,
            format!("the instruction counts from the day it is played (`{when}`): name a date"),
        ));
    }
    // What a set-up fetches are files; what it only opens is a page.
    let opened = first(&FETCH, setup).is_none() && live_address(setup).is_some();
    let live = opened || asked.is_some();
    if live && task.checks.inspect(|checks| checks.iter().any(is_answer)) {
        found.push((
            Severity::Note,
            "its answer stands on a live page and ages with it: keep a copy of the page".to_owned(),
        ));
    }
    found
}

fn is_answer(check: &Check) -> bool {
    match &check.kind {
        CheckKind::Prose { subject, .. } => *subject == ProseSubject::ReturnedResult,
        CheckKind::All { checks, .. } | CheckKind::Any { checks } => checks.iter().any(is_answer),
        _ => false,
    }
}

fn first(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    let found = pattern.as_ref()?.find(text)?;
    Some(found.as_str().to_owned())
}

/// The first address of another machine.
fn live_address(text: &str) -> Option<String> {
    let mut found = ADDRESS.as_ref()?.captures_iter(text);
    let far = found.find(|address| {
        let host = address[1].trim_end_matches('.');
        let name = host.split(':').next().unwrap_or(host);
        // A name without a dot is known to this network alone, as is what stands in brackets.
        name.contains('.')
            && name != "0.0.0.0"
            && !name.starts_with("127.")
            && !name.ends_with(".localhost")
            && !name.ends_with(".test")
    })?;
    Some(far[0].trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_other_machines() {
        for (text, found) in [
            (
                "go to https://www.airbnb.com and",
                Some("https://www.airbnb.com"),
            ),
            (
                "http://localhost:8000/a then http://imdb.com/.",
                Some("http://imdb.com"),
            ),
            ("http://127.0.0.1:80/ http://[::1]/ http://shop.test/", None),
            ("file:///srv/page.html and http://proxy:3128", None),
        ] {
            assert_eq!(live_address(text).as_deref(), found, "{text}");
        }
    }

    #[test]
    fn what_fetches() {
        for (command, found) in [
            ("sudo apk add nano", Some("apk add")),
            ("apt-get -y install x", Some("apt-get -y install")),
            ("cd a && wget b", Some("wget")),
            ("mkdir curly && touch wgetrc", None),
            ("pip list", None),
        ] {
            assert_eq!(first(&FETCH, command).as_deref(), found, "{command}");
        }
    }

    #[test]
    fn days_that_go_by() {
        for (text, found) in [
            ("a departure in 3 months", Some("in 3 months")),
            ("Tell me the date today.", Some("today")),
            ("Fill in 'Spring', 'Warm', '3 months'", None),
            ("on September 27, 2024", None),
        ] {
            assert_eq!(first(&RELATIVE, text).as_deref(), found, "{text}");
        }
    }
}
