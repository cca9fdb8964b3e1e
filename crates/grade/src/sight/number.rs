//! A number among what was read, and whether it can be right. Pure: lines in, finding out.

use std::time::Duration;

use agon_core::sight::NumberTest;
use agon_vision::{Line, number};

use super::finding::{Refusal, SightFinding};
use super::words::joined;
use crate::reason::shown;

/// What a number of seconds may exceed the play by: clocks begin and end apart.
const SLACK: f64 = 1.0;
/// What is less sure is not believed: a digit that had to be taken for another one is not.
const SURE: f64 = 0.75;

pub(super) fn find(test: &NumberTest, lines: &[Line], played: Option<Duration>) -> SightFinding {
    let read = joined(lines);
    let Some(reading) = number::find(lines, test.after.as_deref(), test.form) else {
        return none(test, lines, &read);
    };
    let value = reading.value;
    let doubt = (reading.confidence < SURE).then(|| {
        format!(
            "the reading {value} is not sure ({:.2})",
            reading.confidence
        )
    });
    let refused = implausible(test, value, played).map(Refusal::Implausible);
    let wrong = out_of_bounds(test, value);
    let found = format!(
        "read {value} in {} (confidence {:.2})",
        shown(reading.text.as_bytes()),
        reading.confidence
    );
    SightFinding {
        holds: wrong.is_none() && refused.is_none(),
        found: wrong.map_or_else(|| found.clone(), |wrong| format!("{wrong}; {found}")),
        value: Some(value),
        confidence: Some(reading.confidence),
        doubt,
        tainted: false,
        refused,
    }
}

/// What stands behind the word may be there without being legible.
fn none(test: &NumberTest, lines: &[Line], read: &str) -> SightFinding {
    let (what, doubt) = match &test.after {
        Some(word) => {
            let doubt = format!("{word} is there, but the number with it can't be read");
            (
                format!("no number after {}", shown(word.as_bytes())),
                number::has_word(lines, word).then_some(doubt),
            )
        }
        None => ("no number".to_owned(), None),
    };
    let found = format!("there is {what}; read {}", shown(read.as_bytes()));
    SightFinding {
        doubt,
        ..SightFinding::plain(false, found)
    }
}

fn implausible(test: &NumberTest, value: f64, played: Option<Duration>) -> Option<String> {
    let played = played.filter(|_| test.within_play)?.as_secs_f64();
    if value > played + SLACK {
        return Some(format!(
            "{value} seconds can't be right: {played:.2} were played"
        ));
    }
    (value < 0.0).then(|| format!("{value} is no number of seconds"))
}

fn out_of_bounds(test: &NumberTest, value: f64) -> Option<String> {
    if let Some(least) = test.at_least
        && value < least
    {
        return Some(format!("expected at least {least}"));
    }
    let most = test.at_most.filter(|most| value > *most)?;
    Some(format!("expected at most {most}"))
}

impl SightFinding {
    /// Both must hold; what the words said is told only if it decides. It does whatever became of the
    /// number: a failure is a failure. But a number in doubt is none.
    pub(super) fn with(self, words: Self) -> Self {
        if words.holds {
            return self;
        }
        let number = Some(&self).filter(|number| number.doubt.is_none());
        Self {
            holds: false,
            found: words.found,
            value: number.and_then(|number| number.value),
            confidence: number.and_then(|number| number.confidence),
            doubt: None,
            tainted: self.tainted,
            refused: self.refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_core::Region;
    use agon_core::sight::NumberForm;
    use proptest::prelude::*;

    use super::*;

    fn after_last() -> NumberTest {
        NumberTest {
            after: Some("LAST".to_owned()),
            form: NumberForm::SecondsHundredths,
            at_least: None,
            at_most: None,
            within_play: true,
        }
    }

    fn plain_within() -> NumberTest {
        NumberTest {
            form: NumberForm::Plain,
            ..after_last()
        }
    }

    fn line(text: &str, y: u32, confidence: f64) -> Line {
        let region = Region {
            x: 10,
            y,
            width: 12 * text.len() as u32,
            height: 20,
        };
        Line::new(text, region, confidence)
    }

    fn found(test: &NumberTest, text: &str, played: f64) -> SightFinding {
        let lines = [line("PRESS SPACE TO RETRY", 10, 0.99), line(text, 60, 0.95)];
        find(test, &lines, Some(Duration::from_secs_f64(played)))
    }

    #[test]
    fn what_was_read_is_told() {
        let finding = found(&after_last(), "LAST 12:34", 13.0);
        assert_eq!((finding.holds, finding.value), (true, Some(12.34)));
        assert_eq!(finding.doubt, None);
        assert!(
            finding.found.starts_with("read 12.34 in "),
            "{}",
            finding.found
        );
    }

    #[test]
    fn bounds() {
        let test = NumberTest {
            at_least: Some(10.0),
            at_most: Some(20.0),
            ..after_last()
        };
        for (text, holds) in [
            ("LAST 9:99", false),
            ("LAST 10:00", true),
            ("LAST 20:00", true),
            ("LAST 20:01", false),
        ] {
            let finding = found(&test, text, 100.0);
            assert_eq!(finding.holds, holds, "{}", finding.found);
            assert!(finding.value.is_some());
        }
        let finding = found(&test, "LAST 9:99", 100.0);
        assert!(finding.found.starts_with("expected at least 10; read 9.99"));
    }

    #[test]
    fn more_than_was_played_can_not_be_right() {
        let plain = plain_within();
        let finding = found(&plain, "LAST 226", 3.1);
        assert_eq!((finding.holds, &finding.doubt), (false, &None));
        let why = "226 seconds can't be right: 3.10 were played";
        assert_eq!(finding.refused, Some(Refusal::Implausible(why.to_owned())));
        assert_eq!(finding.disbelief(), Some(why));
        assert_eq!(found(&plain, "LAST 4", 3.1).refused, None);
        let any = NumberTest {
            within_play: false,
            ..plain
        };
        assert_eq!(found(&any, "LAST 226", 3.1).refused, None);
        let lines = [line("LAST 226", 10, 0.9)];
        assert_eq!(find(&plain_within(), &lines, None).refused, None);
    }

    #[test]
    fn what_is_not_sure_is_doubted() {
        let lines = [line("LAST 12:34", 10, 0.45)];
        let finding = find(&after_last(), &lines, None);
        assert!(finding.doubt.unwrap().contains("not sure (0.45)"));
    }

    #[test]
    fn a_doubt_does_not_hide_that_the_words_are_wrong() {
        let unsure = find(&after_last(), &[line("LAST 12:34", 10, 0.45)], None);
        assert!(unsure.doubt.is_some() && unsure.value.is_some());
        let words = || SightFinding::plain(false, "expected BEST");
        let finding = unsure.clone().with(words());
        assert_eq!((finding.holds, &*finding.found), (false, "expected BEST"));
        assert_eq!((finding.doubt, finding.value), (None, None));
        // What is sure is told all the same.
        let sure = found(&after_last(), "LAST 2:34", 3.0).with(words());
        assert_eq!((sure.holds, sure.value), (false, Some(2.34)));
        let right = SightFinding::plain(true, "read LAST");
        assert!(unsure.with(right).doubt.is_some());
    }

    #[test]
    fn a_word_without_its_number_is_not_the_same_as_no_word() {
        let finding = found(&after_last(), "LAST", 3.0);
        assert_eq!((finding.holds, finding.value), (false, None));
        assert!(finding.doubt.is_some());
        // Nor is a part of another word, or of two.
        for other in ["BLAST", "VILLA STREET"] {
            assert_eq!(found(&after_last(), other, 3.0).doubt, None, "{other}");
        }
        let finding = found(&after_last(), "BEST", 3.0);
        assert_eq!((finding.holds, finding.doubt), (false, None));
        assert!(
            finding.found.contains("no number after"),
            "{}",
            finding.found
        );
    }

    proptest! {
        #[test]
        fn a_number_is_believed_exactly_if_it_was_possible(
            seconds in 0u32..600, hundredths in 0u32..100, played in 0.0f64..600.0,
        ) {
            let finding = found(&after_last(), &format!("LAST {seconds}:{hundredths:02}"), played);
            let value = finding.value.unwrap();
            prop_assert!((value - f64::from(seconds) - f64::from(hundredths) / 100.0).abs() < 1e-9);
            prop_assert_eq!(finding.refused.is_none(), value <= played + SLACK);
        }
    }
}
