//! Month names in task files: `[%MONTH+k%]` is the English name of the month `k` months from now.
//! Only the instruction and the checks' `value` and `command` are expanded.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex::{Captures, Regex};

use crate::source::{Content, Node};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[%MONTH\+([0-9]+)%\]").ok());

/// Freezes the dates of a task file, seen from `now` in `zone`.
pub(crate) fn expand(task: &mut Node, now: Timestamp, zone: &TimeZone) {
    let month = usize::from(now.to_zoned(zone.clone()).month().unsigned_abs() - 1);
    if let Some(instruction) = task.get_mut("task") {
        expand_text(instruction, month);
    }
    if let Some(checks) = task.get_mut("checks") {
        expand_checks(checks, month);
    }
}

fn expand_checks(checks: &mut Node, month: usize) {
    let Content::Sequence(checks) = &mut checks.content else {
        return;
    };
    for check in checks {
        for key in ["value", "command"] {
            if let Some(text) = check.get_mut(key) {
                expand_text(text, month);
            }
        }
        if let Some(parts) = check.get_mut("checks") {
            expand_checks(parts, month);
        }
    }
}

fn expand_text(node: &mut Node, month: usize) {
    if let (Content::Scalar { text, .. }, Some(placeholder)) =
        (&mut node.content, PLACEHOLDER.as_ref())
    {
        *text = placeholder
            .replace_all(text, |found: &Captures<'_>| {
                MONTHS[(month + modulo_12(&found[1])) % 12]
            })
            .into_owned();
    }
}

/// The remainder by 12 of a number of any length.
fn modulo_12(digits: &str) -> usize {
    digits
        .bytes()
        .fold(0, |sum, digit| (sum * 10 + usize::from(digit - b'0')) % 12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::parse_yaml;

    fn expanded(text: &str, now: &str, zone: TimeZone) -> String {
        let mut node = parse_yaml(&format!("task: '{text}'\nname: '{text}'\n")).unwrap();
        expand(&mut node, now.parse().unwrap(), &zone);
        assert_eq!(node.get("name").unwrap().read::<String>().unwrap(), text);
        node.get("task").unwrap().read().unwrap()
    }

    #[test]
    fn months_count_from_the_local_one() {
        let at = "2024-10-31T23:30:00Z";
        assert_eq!(expanded("[%MONTH+1%]", at, TimeZone::UTC), "November");
        assert_eq!(expanded("[%MONTH+3%] 5", at, TimeZone::UTC), "January 5");
        assert_eq!(expanded("[%MONTH+0%]", at, TimeZone::UTC), "October");
        let east = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(expanded("[%MONTH+1%]", at, east), "December");
        let huge = format!("[%MONTH+{}%]", "12".repeat(40));
        assert!(MONTHS.contains(&expanded(&huge, at, TimeZone::UTC).as_str()));
    }

    #[test]
    fn anything_else_stays() {
        for text in ["[%MONTH%]", "[%MONTH-1%]", "[%DAY+1%]", "[%MONTH+%]"] {
            assert_eq!(expanded(text, "2024-01-01T00:00:00Z", TimeZone::UTC), text);
        }
    }
}
