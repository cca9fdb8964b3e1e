//! The `answer` check: takes the answer out of what the agent gave with `finish`, and compares it. Pure,
//! and strict about one thing: an agent that gives several different answers has given none.

use agon_core::Digest;
use agon_core::answer::{AnswerScore, AnswerTest};
use agon_core::digest::Hasher;
use regex::Regex;

/// How much of an answer a reason shows.
const SHOWN: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct Extracted {
    /// Its group, or all of it where it has none, is the answer. `None`: the whole text is.
    pub(crate) pattern: Option<Regex>,
    pub(crate) expected: Expected,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    Texts { texts: Vec<String>, case: bool },
    Numbers { values: Vec<Number>, tolerance: f64 },
}

/// A decimal number. Whole ones are kept exactly: they may have more digits than a float can tell apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    /// One number and nothing else: `53`, `-1.5e3`, `1,250`. Neither `45 + 8` nor `53 or 54`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = without_separators(text)?;
        let body = text.strip_prefix(['-', '+']).unwrap_or(&text);
        let fits = body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && body
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
        if !fits {
            return None;
        }
        if let Ok(whole) = text.parse() {
            return Some(Self::Whole(whole));
        }
        text.parse()
            .ok()
            .filter(|n: &f64| n.is_finite())
            .map(Self::Real)
    }

    fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    fn is_near(self, other: Self, tolerance: f64) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) if tolerance == 0.0 => a == b,
            (a, b) => (a.real() - b.real()).abs() <= tolerance,
        }
    }
}

/// Commas between groups of three digits mean nothing; anywhere else they are no part of a number.
fn without_separators(text: &str) -> Option<String> {
    if !text.contains(',') {
        return Some(text.to_owned());
    }
    let digits_end = text.find(['.', 'e', 'E']).unwrap_or(text.len());
    let (whole, rest) = text.split_at(digits_end);
    let mut groups = whole.split(',');
    let first = groups.next()?.trim_start_matches(['-', '+']);
    let fits = (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit()))
        && !rest.contains(',');
    fits.then(|| format!("{}{rest}", whole.replace(',', "")))
}

impl Extracted {
    /// Every answer that the text gives, in order.
    fn answers<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let Some(pattern) = &self.pattern else {
            return vec![text.trim()];
        };
        let found = pattern
            .captures_iter(text)
            .filter_map(|groups| groups.get(1).or_else(|| groups.get(0)));
        found.map(|found| found.as_str().trim()).collect()
    }

    fn are_same(&self, a: &str, b: &str) -> bool {
        match &self.expected {
            Expected::Texts { case: true, .. } => a == b,
            Expected::Texts { case: false, .. } => a.to_lowercase() == b.to_lowercase(),
            Expected::Numbers { .. } => match (Number::parse(a), Number::parse(b)) {
                (Some(a), Some(b)) => a.is_near(b, 0.0),
                _ => a == b,
            },
        }
    }
}

impl AnswerTest for Extracted {
    fn label(&self) -> String {
        "answer".to_owned()
    }

    fn expected(&self) -> Vec<String> {
        match &self.expected {
            Expected::Texts { texts, .. } => texts.clone(),
            Expected::Numbers { .. } => Vec::new(),
        }
    }

    fn digest(&self) -> Digest {
        let mut hasher = Hasher::default();
        hasher.part(b"answer 1");
        hasher.part(self.pattern.as_ref().map_or("", Regex::as_str).as_bytes());
        hasher.part(format!("{:?}", self.expected).as_bytes());
        hasher.finish()
    }

    fn judge(&self, answer: Option<&str>) -> AnswerScore {
        let Some(text) = answer else {
            return failed("the agent gave no answer");
        };
        let answers = self.answers(text);
        let Some(last) = answers.last() else {
            return failed(format!("no answer is found in {}", shown(text)));
        };
        if let Some(other) = answers.iter().find(|other| !self.are_same(last, other)) {
            return failed(format!(
                "there are different answers: {} and {}",
                shown(other),
                shown(last)
            ));
        }
        let (passed, value) = match &self.expected {
            Expected::Texts { texts, .. } => (
                texts.iter().any(|text| self.are_same(last, text.trim())),
                None,
            ),
            Expected::Numbers { values, tolerance } => match Number::parse(last) {
                Some(number) => (
                    values
                        .iter()
                        .any(|value| number.is_near(*value, *tolerance)),
                    Some(number.real()),
                ),
                None => return failed(format!("{} is no number", shown(last))),
            },
        };
        AnswerScore {
            passed,
            score: if passed { 1.0 } else { 0.0 },
            reason: match passed {
                true => format!("answered {}", shown(last)),
                false => format!("answered {}, which is wrong", shown(last)),
            },
            value,
            prediction: None,
        }
    }
}

fn failed(reason: impl Into<String>) -> AnswerScore {
    AnswerScore {
        passed: false,
        score: 0.0,
        reason: reason.into(),
        value: None,
        prediction: None,
    }
}

fn shown(text: &str) -> String {
    let cut: String = text.trim().chars().take(SHOWN).collect();
    let more = if text.trim().chars().count() > SHOWN {
        "..."
    } else {
        ""
    };
    format!("`{}{more}`", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pattern: &str, text: &str, case: bool) -> Extracted {
        Extracted {
            pattern: (!pattern.is_empty()).then(|| Regex::new(pattern).unwrap()),
            expected: Expected::Texts {
                texts: vec![text.to_owned()],
                case,
            },
        }
    }

    fn number(value: &str, tolerance: f64) -> Extracted {
        Extracted {
            pattern: Some(Regex::new("(?s)<solution>(.*?)</solution>").unwrap()),
            expected: Expected::Numbers {
                values: vec![Number::parse(value).unwrap()],
                tolerance,
            },
        }
    }

    fn passes(test: &Extracted, text: &str) -> bool {
        test.judge(Some(text)).passed
    }

    #[test]
    fn the_answer_stands_in_the_group() {
        let test = texts("<solution>(.*?)</solution>", "Paris", true);
        assert!(passes(&test, "I think: <solution> Paris </solution>."));
        assert!(passes(
            &test,
            "<solution>Paris</solution> so <solution>Paris</solution>"
        ));
        assert!(!passes(&test, "Paris"));
        assert!(!passes(&test, "<solution>paris</solution>"));
        assert!(passes(&texts("[Pp]aris", "PARIS", false), "it is paris"));
        assert!(passes(&texts("", "PARIS", true), " PARIS\n"));
        assert!(!test.judge(None).passed);
    }

    #[test]
    fn several_different_answers_are_none() {
        let test = texts("<solution>(.*?)</solution>", "B", false);
        for all in ["A B", "B A"] {
            let text: String = all
                .split(' ')
                .map(|one| format!("<solution>{one}</solution>"))
                .collect();
            let score = test.judge(Some(&text));
            assert!(
                !score.passed && score.reason.contains("different"),
                "{score:?}"
            );
        }
        assert!(passes(
            &test,
            "<solution>B</solution><solution>b</solution>"
        ));
    }

    #[test]
    fn numbers_are_compared_as_such() {
        let tagged = |text: &str| format!("<solution>\n{text}\n</solution>");
        for right in ["1250", "1,250", "+1250.0", "1.25e3"] {
            assert!(passes(&number("1250", 0.0), &tagged(right)), "{right}");
        }
        for wrong in [
            "1251",
            "12,50",
            "1250 apples",
            "1200 + 50",
            "1250 or 1",
            "inf",
            "",
            "--1250",
        ] {
            assert!(!passes(&number("1250", 0.0), &tagged(wrong)), "{wrong}");
        }
        assert!(passes(&number("0.5", 0.01), &tagged("0.509")));
        let both = tagged("7") + &tagged("7.0");
        assert!(passes(&number("7", 0.0), &both));
        // A float can't tell these two apart.
        assert!(!passes(
            &number("9007199254740993", 0.0),
            &tagged("9007199254740992")
        ));
    }

    #[test]
    fn what_is_expected_counts_in_the_digest() {
        let one = texts("a", "b", true);
        assert_ne!(one.digest(), texts("a", "b", false).digest());
        assert_ne!(one.digest(), texts("a", "c", true).digest());
        assert_ne!(one.digest(), texts("b", "b", true).digest());
    }

    proptest::proptest! {
        #[test]
        fn numbers_survive_separators(n in -1_000_000_000_000_i64..1_000_000_000_000) {
            let digits = n.unsigned_abs().to_string();
            let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev()
                .map(|group| std::str::from_utf8(group).unwrap()).collect();
            let sign = if n < 0 { "-" } else { "" };
            let written = format!("{sign}{}", groups.join(","));
            proptest::prop_assert_eq!(Number::parse(&written), Some(Number::Whole(n.into())));
        }

        #[test]
        fn any_text_is_judged(text in "\\PC{0,60}") {
            let _ = number("1", 0.0).judge(Some(&text));
        }
    }
}
