//! Checks that say too little.

use agon_core::SightTest;
use agon_core::check::{Check, CheckKind, FileTest, TextTest};
use agon_core::sight::ProcessTest;
use regex::Regex;

/// Texts that have nothing in common: what accepts all of them accepts anything.
const STRANGERS: [&str; 3] = ["", "qwzx 0", "\u{1}\n~"];

/// Whether no outcome at all fails the check.
pub(super) fn cannot_fail(check: &Check) -> bool {
    match &check.kind {
        CheckKind::CommandOutput {
            tests, exit_status, ..
        } => exit_status.is_none() && tests.iter().all(accepts_anything),
        CheckKind::ReturnedResult { tests }
        | CheckKind::Sight(SightTest::Text {
            tests,
            number: None,
            ..
        }) => tests.iter().all(accepts_anything),
        CheckKind::All { checks, .. } => checks.iter().all(cannot_fail),
        CheckKind::Any { checks } => checks.iter().any(cannot_fail),
        // A file has at least to be there.
        CheckKind::File { .. }
        | CheckKind::Script { .. }
        | CheckKind::Reward { .. }
        | CheckKind::Answer(_)
        | CheckKind::Events { .. }
        | CheckKind::Sight(_)
        | CheckKind::Spreadsheet(_)
        | CheckKind::Document(_)
        | CheckKind::Prose { .. } => false,
    }
}

/// Whether the check passes when nothing was done, as far as can be told without trying.
pub(super) fn passes_untouched(check: &Check) -> bool {
    match &check.kind {
        CheckKind::File { test, .. } => *test == FileTest::Exists(false),
        CheckKind::ReturnedResult { tests } => tests.iter().all(forbids),
        CheckKind::Events { must, .. } => must.is_empty(),
        CheckKind::Sight(test) => holds_untouched(test),
        CheckKind::All { checks, .. } => checks.iter().all(passes_untouched),
        CheckKind::Any { checks } => checks.iter().any(passes_untouched),
        CheckKind::CommandOutput { .. }
        | CheckKind::Script { .. }
        | CheckKind::Reward { .. }
        | CheckKind::Answer(_)
        | CheckKind::Spreadsheet(_)
        | CheckKind::Document(_)
        | CheckKind::Prose { .. } => false,
    }
}

/// Whether it asks for nothing that was not so from the start.
fn holds_untouched(test: &SightTest) -> bool {
    match test {
        SightTest::Text {
            tests,
            number: None,
            ..
        } => tests.iter().all(forbids),
        SightTest::Changed { changed, .. } => !changed,
        SightTest::Template { shown, .. } => !shown,
        SightTest::Window { exists, .. } => !exists,
        SightTest::Process { state, .. } => *state == ProcessTest::Alive(true),
        SightTest::Text { .. } | SightTest::Pixel { .. } => false,
    }
}

fn forbids(test: &TextTest) -> bool {
    matches!(test, TextTest::NotContains(_)) || accepts_anything(test)
}

fn accepts_anything(test: &TextTest) -> bool {
    match test {
        TextTest::Contains(text) => text.is_empty(),
        TextTest::Matches(regex) => {
            Regex::new(regex).is_ok_and(|regex| STRANGERS.iter().all(|text| regex.is_match(text)))
        }
        TextTest::Equals(_)
        | TextTest::OneOf(_)
        | TextTest::NotContains(_)
        | TextTest::Json { .. }
        | TextTest::Number { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_accepts_anything() {
        for (test, expected) in [
            (TextTest::Contains(String::new()), true),
            (TextTest::Matches(".*".to_owned()), true),
            (TextTest::Matches("a*".to_owned()), true),
            (TextTest::Matches("^$".to_owned()), false),
            (TextTest::Matches("^.*ok$".to_owned()), false),
            (TextTest::Contains("x".to_owned()), false),
        ] {
            assert_eq!(accepts_anything(&test), expected, "{test:?}");
        }
    }
}
