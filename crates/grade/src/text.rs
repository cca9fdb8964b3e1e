//! Tests of a text: what files, outputs and answers are compared with. Works on bytes, because what
//! an agent leaves behind need not be UTF-8.

use agon_core::Fault;
use agon_core::check::TextTest;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

use crate::finding::{Finding, bad_check};
use crate::reason::shown;
use crate::{json, number};

/// Bound on a compiled pattern, against patterns such as `(a{1000}){1000}`.
const PATTERN: usize = 1 << 20;

/// Whether white space around a text counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surround {
    Counts,
    Ignored,
}

/// Carries out all tests; the first that does not hold gives the reason.
pub(crate) fn run(tests: &[TextTest], text: &[u8], surround: Surround) -> Result<Finding, Fault> {
    if tests.is_empty() {
        return Err(bad_check(
            "the check tests nothing: give it `equals`, `contains`, `matches`, `json` or the like",
        ));
    }
    let text = match surround {
        Surround::Counts => text,
        Surround::Ignored => text.trim_ascii(),
    };
    // Every test is looked at, so that a broken one is found whatever the agent left behind.
    let mut wrong = None;
    for test in tests {
        let found = complaint(test, text, surround)?;
        wrong = wrong.or(found);
    }
    Ok(Finding::unless(wrong, || format!("found {}", shown(text))))
}

/// What is wrong with the text, if anything is.
fn complaint(test: &TextTest, text: &[u8], surround: Surround) -> Result<Option<String>, Fault> {
    let wanted = |wanted: &str| match surround {
        Surround::Counts => wanted.to_owned(),
        Surround::Ignored => wanted.trim_ascii().to_owned(),
    };
    let wrong = match test {
        TextTest::Equals(expected) => differs(wanted(expected).as_bytes(), text),
        TextTest::OneOf(choices) if choices.is_empty() => {
            return Err(bad_check("`one_of` has no choices"));
        }
        TextTest::OneOf(choices) => {
            let hit = choices.iter().any(|one| wanted(one).as_bytes() == text);
            (!hit).then(|| {
                let choices: Vec<_> = choices.iter().map(|one| shown(one.as_bytes())).collect();
                format!(
                    "expected one of {}; found {}",
                    choices.join(", "),
                    shown(text)
                )
            })
        }
        TextTest::Contains(part) | TextTest::NotContains(part) if part.is_empty() => {
            return Err(bad_check("the text to look for is empty"));
        }
        TextTest::Contains(part) => (!contains(text, part.as_bytes())).then(|| {
            format!(
                "expected {} in it; found {}",
                shown(part.as_bytes()),
                shown(text)
            )
        }),
        TextTest::NotContains(part) => contains(text, part.as_bytes()).then(|| {
            format!(
                "{} must not be in it; found {}",
                shown(part.as_bytes()),
                shown(text)
            )
        }),
        TextTest::Matches(expression) => (!pattern(expression)?.is_match(text))
            .then(|| format!("expected a match of /{expression}/; found {}", shown(text))),
        TextTest::Json { pointer, equals } => json_differs(pointer, equals, text)?,
        TextTest::Number { value, tolerance } => number_differs(*value, *tolerance, text)?,
    };
    Ok(wrong)
}

/// A regular expression over bytes: linear in the text, bounded in size.
pub(crate) fn pattern(expression: &str) -> Result<Regex, Fault> {
    RegexBuilder::new(expression)
        .size_limit(PATTERN)
        .build()
        .map_err(|error| bad_check(format!("the pattern can't be used: {error}")))
}

fn differs(expected: &[u8], found: &[u8]) -> Option<String> {
    if expected == found {
        return None;
    }
    let only = if expected.trim_ascii() != found.trim_ascii() {
        ""
    } else if expected.trim_ascii_start() == found.trim_ascii_start() {
        " (they differ only in leading white space)"
    } else if line_ends(expected) == line_ends(found) {
        " (they differ only in line ends at the end)"
    } else {
        " (they differ only in surrounding white space)"
    };
    Some(format!(
        "expected {}; found {}{only}",
        shown(expected),
        shown(found)
    ))
}

/// The text without line ends at its end.
fn line_ends(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|byte| !matches!(byte, b'\n' | b'\r'))
        .map_or(0, |last| last + 1);
    &text[..end]
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    match (std::str::from_utf8(text), std::str::from_utf8(part)) {
        // The usual case, with the linear search of `str`.
        (Ok(text), Ok(part)) => text.contains(part),
        _ => text.windows(part.len()).any(|window| window == part),
    }
}

fn json_differs(pointer: &str, equals: &Value, text: &[u8]) -> Result<Option<String>, Fault> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(bad_check(format!(
            "`{pointer}` is no JSON pointer: start it with `/`"
        )));
    }
    let found: Value = match serde_json::from_slice(text) {
        Ok(found) => found,
        Err(error) => {
            return Ok(Some(format!(
                "expected JSON ({error}); found {}",
                shown(text)
            )));
        }
    };
    let place = if pointer.is_empty() {
        "the whole"
    } else {
        pointer
    };
    Ok(match found.pointer(pointer) {
        None => Some(format!("the JSON has nothing at {place}")),
        Some(found) if json::same(found, equals) => None,
        Some(found) => Some(format!(
            "expected {} at {place}; found {}",
            shown(equals.to_string().as_bytes()),
            shown(found.to_string().as_bytes())
        )),
    })
}

fn number_differs(value: f64, tolerance: f64, text: &[u8]) -> Result<Option<String>, Fault> {
    if !value.is_finite() || !tolerance.is_finite() || tolerance < 0.0 {
        return Err(bad_check(
            "`number` and `tolerance` must be finite, the tolerance not negative",
        ));
    }
    let found = std::str::from_utf8(text).ok().and_then(number::parse);
    Ok(match found {
        None => Some(format!(
            "expected one number and nothing else; found {}",
            shown(text)
        )),
        Some(found) if number::close(found, value, tolerance) => None,
        Some(found) if tolerance == 0.0 => Some(format!("expected {value}; found {found}")),
        Some(found) => Some(format!("expected {value} ± {tolerance}; found {found}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(test: TextTest, text: &str) -> String {
        run(&[test], text.as_bytes(), Surround::Counts)
            .unwrap()
            .reason
    }

    #[test]
    fn a_difference_in_white_space_only_is_named() {
        let equals = |text: &str| TextTest::Equals(text.to_owned());
        assert!(reason(equals("a\n"), "a").ends_with("only in line ends at the end)"));
        assert!(reason(equals("a\n"), "a\r\n").ends_with("only in line ends at the end)"));
        assert!(reason(equals("a"), "  a").ends_with("only in leading white space)"));
        assert!(reason(equals("a"), "a ").ends_with("only in surrounding white space)"));
        assert!(!reason(equals("a"), "b").contains("differ only"));
    }

    #[test]
    fn a_broken_test_is_a_fault_even_behind_one_that_fails() {
        let tests = [
            TextTest::Equals("x".into()),
            TextTest::Matches("(unclosed".into()),
        ];
        assert!(run(&tests, b"y", Surround::Counts).is_err());
    }

    #[test]
    fn patterns_are_bounded() {
        assert!(pattern("(a{1000}){1000}").is_err());
        assert!(pattern(r"^\d{1,3}$").is_ok());
    }
}
