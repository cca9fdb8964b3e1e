//! The number that belongs to a word: behind it, to the right of it, or below it.

use agon_core::Region;
use agon_core::sight::NumberForm;

use super::form::{Token, numbers};
use super::word::{Spot, spots};
use crate::ocr::Line;
use crate::ocr::line::same_row;

/// A number, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub value: f64,
    /// The characters that it was made of.
    pub text: String,
    /// From 0 to 1: of its least sure character, and less for everything that was repaired.
    pub confidence: f64,
}

/// Below a word: no further away than so many heights of it.
const BELOW: u64 = 2;

/// The number after a word; without one, the first number there is.
///
/// After the word means: in its line with nothing but signs between them, or at the beginning of the
/// nearest line to the right, or in a line of numbers just below.
pub fn find(lines: &[Line], after: Option<&str>, form: NumberForm) -> Option<Reading> {
    let Some(word) = after else {
        return lines.iter().find_map(|line| {
            let chars: Vec<char> = line.text.chars().collect();
            let token = *numbers(&chars, form).first()?;
            Some(reading(line, &chars, token, 1.0))
        });
    };
    let mut places: Vec<Place> = lines
        .iter()
        .flat_map(|line| {
            let chars: Vec<char> = line.text.chars().collect();
            let found = spots(&chars, word);
            found.into_iter().map(move |spot| Place {
                line,
                chars: chars.clone(),
                spot,
            })
        })
        .collect();
    places.sort_by(|a, b| b.spot.trust.total_cmp(&a.spot.trust));
    places.iter().find_map(|place| {
        place
            .behind(form)
            .or_else(|| place.to_the_right(lines, form))
            .or_else(|| place.below(lines, form))
    })
}

/// Whether a word stands somewhere, whole, as [`find`] looks for it.
pub fn has_word(lines: &[Line], word: &str) -> bool {
    lines.iter().any(|line| {
        let chars: Vec<char> = line.text.chars().collect();
        !spots(&chars, word).is_empty()
    })
}

/// The word, in its line.
struct Place<'a> {
    line: &'a Line,
    chars: Vec<char>,
    spot: Spot,
}

impl Place<'_> {
    fn behind(&self, form: NumberForm) -> Option<Reading> {
        let rest = &self.chars[self.spot.end..];
        let mut token = first(rest, form)?;
        token.start += self.spot.end;
        token.end += self.spot.end;
        Some(reading(self.line, &self.chars, token, self.spot.trust))
    }

    fn to_the_right(&self, lines: &[Line], form: NumberForm) -> Option<Reading> {
        if self.chars[self.spot.end..]
            .iter()
            .any(|c| c.is_alphanumeric())
        {
            return None;
        }
        let end = right(self.line.region);
        let line = lines
            .iter()
            .filter(|line| !std::ptr::eq(*line, self.line))
            .filter(|line| same_row(line.region, self.line.region))
            .filter(|line| right(line.region) > end && middle(line.region) > end)
            .min_by_key(|line| line.region.x)?;
        let chars: Vec<char> = line.text.chars().collect();
        let token = first(&chars, form)?;
        Some(reading(line, &chars, token, self.spot.trust))
    }

    fn below(&self, lines: &[Line], form: NumberForm) -> Option<Reading> {
        let (left, end) = self.extent();
        let own = self.line.region;
        let bottom = u64::from(own.y) + u64::from(own.height);
        let line = lines
            .iter()
            .filter(|line| !same_row(line.region, own) && line.region.y > own.y)
            .filter(|line| u64::from(line.region.y) <= bottom + BELOW * u64::from(own.height))
            .filter(|line| f64::from(line.region.x) < end && right(line.region) as f64 > left)
            .min_by_key(|line| line.region.y)?;
        let chars: Vec<char> = line.text.chars().collect();
        let tokens = numbers(&chars, form);
        let outside = |at: usize| tokens.iter().all(|t| at < t.start || at >= t.end);
        // With words in it, its numbers belong to those.
        if (0..chars.len()).any(|at| chars[at].is_alphabetic() && outside(at)) {
            return None;
        }
        let distance = |token: &Token| {
            let centre = position(line, chars.len(), (token.start + token.end) as f64 / 2.0);
            (centre - f64::midpoint(left, end)).abs()
        };
        let token = tokens
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        Some(reading(line, &chars, *token, self.spot.trust))
    }

    /// Where the word begins and ends, as if all characters were equally wide.
    fn extent(&self) -> (f64, f64) {
        let at = |character: usize| position(self.line, self.chars.len(), character as f64);
        (at(self.spot.start), at(self.spot.end))
    }
}

/// A number at the beginning, with at most signs before it.
fn first(chars: &[char], form: NumberForm) -> Option<Token> {
    let token = *numbers(chars, form).first()?;
    let clear = !chars[..token.start].iter().any(|c| c.is_alphanumeric());
    clear.then_some(token)
}

fn right(region: Region) -> u64 {
    u64::from(region.x) + u64::from(region.width)
}

fn middle(region: Region) -> u64 {
    u64::from(region.x) + u64::from(region.width) / 2
}

fn position(line: &Line, characters: usize, at: f64) -> f64 {
    f64::from(line.region.x) + f64::from(line.region.width) * at / characters.max(1) as f64
}

fn reading(line: &Line, chars: &[char], token: Token, trust: f64) -> Reading {
    let sure = line
        .letters
        .get(token.start..token.end)
        .unwrap_or_default()
        .iter()
        .map(|sure| f64::from(*sure))
        .reduce(f64::min)
        .unwrap_or(line.confidence);
    Reading {
        value: token.value,
        text: chars[token.start..token.end].iter().collect(),
        confidence: (sure * token.trust * trust).clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str, x: u32, y: u32) -> Line {
        let region = Region {
            x,
            y,
            width: text.len() as u32 * 10,
            height: 16,
        };
        Line::new(text, region, 0.9)
    }

    fn last(lines: &[Line]) -> Option<f64> {
        find(lines, Some("LAST"), NumberForm::SecondsHundredths).map(|found| found.value)
    }

    #[test]
    fn behind_the_word() {
        let lines = [
            line("GAME OVER 3", 0, 0),
            line("BEST 58:07", 0, 30),
            line("LAST: 12:34", 0, 60),
        ];
        let found = find(&lines, Some("last"), NumberForm::SecondsHundredths).unwrap();
        assert_eq!((found.value, found.text.as_str()), (12.34, "12:34"));
        assert!((found.confidence - 0.9).abs() < 1e-6);
        assert_eq!(last(&[line("BEST 58:07 LAST12:34", 0, 0)]), Some(12.34));
    }

    #[test]
    fn in_the_line_to_the_right() {
        let lines = [
            line("LAST", 100, 60),
            line("12:34", 200, 62),
            line("77:77", 400, 61),
            line("33:33", 0, 60),
        ];
        assert_eq!(last(&lines), Some(12.34));
    }

    #[test]
    fn in_the_column_below() {
        let lines = [
            line("LAST      BEST", 100, 60),
            line("12:34     58:07", 100, 90),
        ];
        assert_eq!(last(&lines), Some(12.34));
        let best = find(&lines, Some("best"), NumberForm::SecondsHundredths).unwrap();
        assert_eq!(best.value, 58.07);
    }

    #[test]
    fn numbers_of_other_words_are_left_to_them() {
        assert_eq!(last(&[line("LAST BEST 58:07", 0, 0)]), None);
        let below = [line("LAST", 0, 0), line("BEST 58:07", 0, 20)];
        assert_eq!(last(&below), None);
        let far = [line("LAST", 0, 0), line("58:07", 0, 200)];
        assert_eq!(last(&far), None);
        assert_eq!(last(&[line("NEXT 12:34", 0, 0)]), None);
    }

    #[test]
    fn a_word_is_not_found_in_others_nor_across_them() {
        for (text, there) in [
            ("the LAST one", true),
            ("LA5T12:34", true),
            ("BLAST", false),
            ("LA ST", false),
            ("VILLA STREET", false),
        ] {
            assert_eq!(has_word(&[line(text, 0, 0)], "last"), there, "{text}");
        }
        assert!(!has_word(&[line("LA", 0, 0), line("ST", 0, 30)], "last"));
    }

    #[test]
    fn without_a_word_it_is_the_first() {
        let lines = [line("Level two", 0, 0), line("score 1,250 of 9", 0, 30)];
        let found = find(&lines, None, NumberForm::Plain).unwrap();
        assert_eq!(found.value, 1250.0);
    }

    #[test]
    fn it_is_as_sure_as_its_least_sure_character() {
        let mut read = line("LAST 12:34", 0, 0);
        read.letters[6] = 0.4;
        read.letters[0] = 0.1;
        let found = find(&[read], Some("LAST"), NumberForm::SecondsHundredths).unwrap();
        assert!((found.confidence - 0.4).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn any_lines_are_survived(
            texts in prop::collection::vec(("[A-Z0-9:. ]{0,12}|\\PC{0,12}", any::<[u32; 4]>()), 0..8),
            word in "[A-Z ]{0,4}|\\PC{0,3}",
        ) {
            let lines: Vec<Line> = texts
                .into_iter()
                .map(|(text, [x, y, width, height])| {
                    Line::new(text, Region { x, y, width, height }, 0.5)
                })
                .collect();
            for form in [NumberForm::Plain, NumberForm::MinutesSeconds] {
                for after in [None, Some(word.as_str())] {
                    if let Some(found) = find(&lines, after, form) {
                        prop_assert!(found.value.is_finite());
                        prop_assert!((0.0..=0.5).contains(&found.confidence));
                    }
                }
            }
        }
    }
}
