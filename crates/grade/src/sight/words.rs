//! Tests of what was read off a screen. Lines are joined by line ends. Who reads letters off pixels
//! can't be trusted with spaces and capitals, so `contains` and `not_contains` mind neither at all
//! (`NOWHERE` contains `now here`); the other tests take the text as it was read, without white space
//! around it.

use agon_core::check::TextTest;
use agon_vision::Line;

use super::finding::{SightError, SightFinding};
use crate::reason::shown;
use crate::text::{self, Surround};

/// All lines as one text.
pub(super) fn joined(lines: &[Line]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
    lines.join("\n")
}

/// Small letters without white space: a space may get lost on the way from the pixels.
fn folded(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// Whether every test can be carried out, whatever is read.
pub(super) fn usable(tests: &[TextTest]) -> Result<(), SightError> {
    find(tests, &[]).map(|_| ())
}

/// Where nothing is tested everything holds: there may be a number to look for.
pub(super) fn find(tests: &[TextTest], lines: &[Line]) -> Result<SightFinding, SightError> {
    let read = joined(lines);
    let folded_read = folded(&read);
    let mut wrong = None;
    for test in tests {
        let found = complaint(test, &read, &folded_read)?;
        wrong = wrong.or(found);
    }
    let holds = wrong.is_none();
    let found = wrong.unwrap_or_else(|| format!("read {}", shown(read.as_bytes())));
    Ok(SightFinding::plain(holds, found))
}

fn complaint(test: &TextTest, read: &str, folded_read: &str) -> Result<Option<String>, SightError> {
    let has = |part: &str| match folded(part) {
        part if part.is_empty() => {
            Err(SightError::Test("the text to look for is empty".to_owned()))
        }
        part => Ok(folded_read.contains(&part)),
    };
    let read_text = shown(read.as_bytes());
    Ok(match test {
        TextTest::Contains(part) => (!has(part)?).then(|| {
            format!(
                "expected {} in it; read {read_text}",
                shown(part.as_bytes())
            )
        }),
        TextTest::NotContains(part) => has(part)?.then(|| {
            format!(
                "{} must not be in it; read {read_text}",
                shown(part.as_bytes())
            )
        }),
        _ => {
            let tests = std::slice::from_ref(test);
            let finding = text::run(tests, read.as_bytes(), Surround::Ignored)
                .map_err(SightError::of_test)?;
            (!finding.passed).then_some(finding.reason)
        }
    })
}

#[cfg(test)]
mod tests {
    use agon_core::Region;
    use proptest::prelude::*;

    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        let region = Region {
            x: 0,
            y: 0,
            width: 10,
            height: 10,
        };
        let lines = texts.iter().map(|text| Line::new(*text, region, 0.9));
        lines.collect()
    }

    fn found(test: TextTest, texts: &[&str]) -> SightFinding {
        find(&[test], &lines(texts)).unwrap()
    }

    #[test]
    fn capitals_and_spaces_do_not_count_where_something_is_looked_for() {
        let contains = |part: &str| TextTest::Contains(part.to_owned());
        for part in [
            "press space to retry",
            "PRESS  SPACE",
            "PRESSSPACE",
            "space\nto",
            "TO RETRY LAST",
        ] {
            let finding = found(contains(part), &["Press SPACE to", "retry", "LAST 1:00"]);
            assert!(finding.holds, "{part}: {}", finding.found);
        }
        let finding = found(contains("BEST"), &["LAST 1:00"]);
        assert!(!finding.holds);
        assert_eq!(finding.found, r#"expected "BEST" in it; read "LAST 1:00""#);
        let forbids = found(TextTest::NotContains("last".into()), &["LAST 1:00"]);
        assert_eq!(
            (forbids.holds, &*forbids.found),
            (false, r#""last" must not be in it; read "LAST 1:00""#)
        );
    }

    #[test]
    fn the_other_tests_take_the_text_as_it_was_read() {
        let texts = ["Game Over", "12"];
        assert!(found(TextTest::Equals(" Game Over\n12\n".into()), &texts).holds);
        assert!(!found(TextTest::Equals("game over\n12".into()), &texts).holds);
        assert!(found(TextTest::Matches("(?m)^1\\d$".into()), &texts).holds);
        let number = TextTest::Number {
            value: 12.0,
            tolerance: 0.5,
        };
        assert!(found(number.clone(), &["12.25"]).holds);
        assert!(!found(number, &texts).holds);
    }

    #[test]
    fn broken_tests_are_found_before_anything_is_read() {
        for test in [
            TextTest::Contains("  ".into()),
            TextTest::NotContains(String::new()),
            TextTest::Matches("(".into()),
        ] {
            assert!(usable(std::slice::from_ref(&test)).is_err(), "{test:?}");
        }
        assert!(usable(&[]).is_ok());
    }

    #[test]
    fn what_a_screen_says_is_shown_tamely() {
        let finding = found(TextTest::Contains("a".into()), &["\u{1b}[2J\u{202e}", "x"]);
        assert!(!finding.found.contains('\u{1b}'), "{}", finding.found);
    }

    proptest! {
        #[test]
        fn a_part_is_found_however_it_is_written(
            before in "[a-zA-Z0-9]{0,6}", part in "[a-zA-Z0-9]{1,6}( [a-zA-Z0-9]{1,6}){0,2}",
            upper: bool, gap in "[ \t\n]{1,3}",
        ) {
            let written = match upper {
                true => part.to_uppercase(),
                false => part.to_lowercase(),
            };
            let written = written.replace(' ', &gap);
            let texts = [before.as_str(), written.as_str()];
            prop_assert!(found(TextTest::Contains(part.clone()), &texts).holds);
            prop_assert!(!found(TextTest::NotContains(part), &texts).holds);
        }

        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let once = folded(&text);
            prop_assert_eq!(&folded(&once), &once);
        }
    }
}
