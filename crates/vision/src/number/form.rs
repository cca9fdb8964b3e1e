//! How numbers are written, and what reading makes of them: a `0` becomes an `O`, a `:` becomes a
//! `;`. That is repaired inside of numbers only, and each repair costs trust.

use agon_core::sight::NumberForm;

/// A number in a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Token {
    pub(super) value: f64,
    /// Its characters, by their places in the line.
    pub(super) start: usize,
    pub(super) end: usize,
    /// From 0 to 1: what was repaired is less sure.
    pub(super) trust: f64,
}

/// Longer ones are no scores.
const MOST_DIGITS: usize = 15;
const REPAIRED: f64 = 0.7;
const OTHER_SEPARATOR: f64 = 0.8;
const NO_SEPARATOR: f64 = 0.5;
const WITH_SPACES: f64 = 0.95;
/// May follow a number at once.
const UNITS: [&str; 10] = [
    "seconds", "secs", "sec", "ms", "s", "min", "m", "pts", "px", "x",
];

/// The numbers of a line, from left to right.
pub(super) fn numbers(line: &[char], form: NumberForm) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if line[at].is_whitespace() {
            at += 1;
            continue;
        }
        let joined = end_of_word(line, at, form);
        let alone = end_of_word(line, at, NumberForm::Plain);
        // Words that a colon joins are tried together first.
        let tried = [joined, alone].map(|end| (end, token(line, at, end, form)));
        if let Some((end, Some(token))) = tried.into_iter().find(|(_, token)| token.is_some()) {
            found.push(token);
            at = end;
        } else {
            at = alone;
        }
    }
    found
}

/// Where the word ends. Reading puts spaces around colons: in forms with colons they belong to it.
fn end_of_word(line: &[char], start: usize, form: NumberForm) -> usize {
    let mut at = start;
    while at < line.len() {
        if !line[at].is_whitespace() {
            at += 1;
            continue;
        }
        let next = line[at..].iter().position(|c| !c.is_whitespace());
        let (Some(next), Some(before)) = (next, line[start..at].last()) else {
            break;
        };
        let after = line[at + next];
        if form == NumberForm::Plain || !(is_colon(*before) || is_colon(after)) {
            break;
        }
        at += next;
    }
    at
}

fn is_colon(c: char) -> bool {
    matches!(c, ':' | ';')
}

fn token(line: &[char], start: usize, end: usize, form: NumberForm) -> Option<Token> {
    let (start, end) = bare(line, start, end);
    let mut read = Read {
        text: String::new(),
        trust: 1.0,
    };
    let (mut genuine, mut repaired) = (0, 0);
    let has_colon = line[start..end].iter().any(|c| is_colon(*c));
    for (at, &c) in line[start..end].iter().enumerate() {
        match c {
            '0'..='9' => {
                genuine += 1;
                read.text.push(c);
            }
            '.' | ',' | ':' | ';' => read.text.push(c),
            '-' | '–' | '−' if at == 0 => read.text.push('-'),
            '+' if at == 0 => {}
            c if c.is_whitespace() => read.trust *= WITH_SPACES,
            c => {
                repaired += 1;
                read.trust *= REPAIRED;
                read.text.push(repair(c, has_colon)?);
            }
        }
    }
    let first = line.get(start)?;
    let needed = if has_colon || !first.is_alphabetic() {
        repaired
    } else {
        // A word that begins with a letter is seldom a number.
        2 * repaired
    };
    if genuine == 0 || genuine < needed || genuine + repaired > MOST_DIGITS {
        return None;
    }
    let (value, trust) = match form {
        NumberForm::Plain => read.plain()?,
        NumberForm::SecondsHundredths => read.seconds_hundredths()?,
        NumberForm::MinutesSeconds => read.minutes_seconds()?,
    };
    Some(Token {
        value,
        start,
        end,
        trust,
    })
}

/// Without brackets, full stops and units around it.
fn bare(line: &[char], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && " ([{<\"'$€£#=:;*~".contains(line[start]) {
        start += 1;
    }
    while start < end && " )]}>\"',.;:%!?*~".contains(line[end - 1]) {
        end -= 1;
    }
    for unit in UNITS {
        let length = unit.len();
        if end > start + length
            && line[end - length - 1].is_ascii_digit()
            && line[end - length..end].iter().copied().eq(unit.chars())
        {
            return (start, end - length);
        }
    }
    (start, end)
}

/// The digit that was taken for this character. Where a colon says that this is a number, more is
/// believed.
fn repair(c: char, has_colon: bool) -> Option<char> {
    Some(match c {
        'O' | 'o' => '0',
        'l' | 'I' | '|' => '1',
        'S' => '5',
        'Q' | 'D' if has_colon => '0',
        'i' | '!' | ']' | '[' if has_colon => '1',
        'Z' | 'z' if has_colon => '2',
        's' | '$' if has_colon => '5',
        'B' | '&' if has_colon => '8',
        _ => return None,
    })
}

/// Digits and separators, after repair.
struct Read {
    text: String,
    trust: f64,
}

impl Read {
    fn plain(&self) -> Option<(f64, f64)> {
        let unsigned = self.text.strip_prefix('-').unwrap_or(&self.text);
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (unsigned, None),
        };
        let mut groups = whole.split(',');
        let first = groups.next()?;
        let grouped = whole.contains(',');
        let good = is_digits(first)
            && (!grouped || first.len() <= 3)
            && groups.all(|group| group.len() == 3 && is_digits(group))
            && fraction.is_none_or(is_digits);
        if !good {
            return None;
        }
        let value: f64 = self.text.replace(',', "").parse().ok()?;
        Some((value, self.trust))
    }

    fn seconds_hundredths(&self) -> Option<(f64, f64)> {
        let at = self.text.find(|c: char| !c.is_ascii_digit());
        let (seconds, hundredths, trust) = match at {
            Some(at) => {
                let trust = match &self.text[at..=at] {
                    ":" => 1.0,
                    ";" | "." | "," => OTHER_SEPARATOR,
                    _ => return None,
                };
                (&self.text[..at], &self.text[at + 1..], trust)
            }
            None => {
                let at = self.text.len().checked_sub(2)?;
                (&self.text[..at], &self.text[at..], NO_SEPARATOR)
            }
        };
        if !is_digits(seconds) || !is_digits(hundredths) || hundredths.len() != 2 {
            return None;
        }
        let value: f64 = format!("{seconds}.{hundredths}").parse().ok()?;
        Some((value, self.trust * trust))
    }

    fn minutes_seconds(&self) -> Option<(f64, f64)> {
        let trust = if self.text.contains(';') {
            OTHER_SEPARATOR
        } else {
            1.0
        };
        let parts: Vec<&str> = self.text.split([':', ';']).collect();
        let (hours, minutes, seconds) = match parts[..] {
            [minutes, seconds] => ("0", minutes, seconds),
            [hours, minutes, seconds] => (hours, minutes, seconds),
            _ => return None,
        };
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
        let below_60 = |text: &str| text.len() == 2 && text < "60";
        let good = [hours, minutes, whole, fraction].into_iter().all(is_digits)
            && below_60(whole)
            && (parts.len() == 2 || below_60(minutes));
        if !good {
            return None;
        }
        let [hours, minutes, seconds]: [f64; 3] = [
            hours.parse().ok()?,
            minutes.parse().ok()?,
            seconds.parse().ok()?,
        ];
        Some((
            hours * 3600.0 + minutes * 60.0 + seconds,
            self.trust * trust,
        ))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str, form: NumberForm) -> Vec<f64> {
        let line: Vec<char> = text.chars().collect();
        numbers(&line, form).iter().map(|n| n.value).collect()
    }

    fn trust(text: &str, form: NumberForm) -> f64 {
        let line: Vec<char> = text.chars().collect();
        numbers(&line, form)[0].trust
    }

    #[test]
    fn plain_numbers() {
        let plain = |text| values(text, NumberForm::Plain);
        assert_eq!(plain("1250 -3.5 1,250 +7"), [1250.0, -3.5, 1250.0, 7.0]);
        assert_eq!(plain("(42) $99. 12.5s 50% x3"), [42.0, 99.0, 12.5, 50.0]);
        assert_eq!(plain("2026-11-16 12:34 1.2.3 12,34 10-3 -"), [0.0; 0]);
        assert_eq!(plain("1O 2S0 O5OO"), [10.0, 250.0]);
        assert_eq!(plain("SO Oll B2 S0 level IO 3D"), [0.0; 0]);
        assert_eq!(plain("1234567890123456"), [0.0; 0]);
    }

    #[test]
    fn seconds_and_hundredths() {
        let read = |text| values(text, NumberForm::SecondsHundredths);
        assert_eq!(read("12:34"), [12.34]);
        assert_eq!(read("28: 34 1 : 07"), [28.34, 1.07]);
        assert_eq!(
            read("5&: 07 1S:02 1Z:34 OO:12"),
            [58.07, 15.02, 12.34, 0.12]
        );
        assert_eq!(read("12;34 12.34 226"), [12.34, 12.34, 2.26]);
        assert_eq!(read("12:3 12:345 1:02:03 LAST BEST"), [0.0; 0]);
        assert_eq!(read("LAST: 12:34"), [12.34]);
    }

    #[test]
    fn minutes_and_seconds() {
        let read = |text| values(text, NumberForm::MinutesSeconds);
        assert_eq!(read("02:05 02:05.5 1:00:01"), [125.0, 125.5, 3601.0]);
        assert_eq!(read("02:75 205 2.05"), [0.0; 0]);
    }

    #[test]
    fn repairs_cost_trust() {
        assert_eq!(trust("12:34", NumberForm::SecondsHundredths), 1.0);
        for text in ["12;34", "12.34", "1234", "I2:34", "12: 34"] {
            assert!(trust(text, NumberForm::SecondsHundredths) < 1.0, "{text}");
        }
        assert!(trust("1234", NumberForm::SecondsHundredths) <= NO_SEPARATOR);
        assert!(trust("1O", NumberForm::Plain) < 1.0);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(seconds in 0u32..100_000, hundredths in 0u32..100) {
            let text = format!("LAST {seconds}:{hundredths:02} s");
            let wanted = f64::from(seconds * 100 + hundredths) / 100.0;
            prop_assert_eq!(values(&text, NumberForm::SecondsHundredths), [wanted]);
            let value = f64::from(seconds) - 50_000.0;
            prop_assert_eq!(values(&format!("x= {value}"), NumberForm::Plain), [value]);
            let text = format!("{:02}:{:02}", seconds / 60, seconds % 60);
            prop_assert_eq!(values(&text, NumberForm::MinutesSeconds), [f64::from(seconds)]);
        }

        #[test]
        fn one_confusion_is_repaired_and_costs(
            seconds in 1000u32..100_000, hundredths in 0u32..100, which in 0usize..4,
        ) {
            let (right, wrong) = [("0", "O"), ("1", "l"), ("5", "S"), (":", ";")][which];
            let text = format!("{seconds}:{hundredths:02}");
            let misread = text.replacen(right, wrong, 1);
            let form = NumberForm::SecondsHundredths;
            prop_assert_eq!(values(&misread, form), values(&text, form));
            prop_assert!(misread == text || trust(&misread, form) < trust(&text, form));
        }

        #[test]
        fn anything_is_survived(text in "[-+0-9OlISZsx.,:;() ]{0,40}|\\PC{0,40}") {
            let line: Vec<char> = text.chars().collect();
            for form in [
                NumberForm::Plain,
                NumberForm::SecondsHundredths,
                NumberForm::MinutesSeconds,
            ] {
                let mut last = 0;
                for token in numbers(&line, form) {
                    prop_assert!(token.value.is_finite() && token.trust > 0.0);
                    prop_assert!(token.start >= last && token.end > token.start);
                    prop_assert!(token.end <= line.len());
                    last = token.end;
                }
            }
        }

        #[test]
        fn words_are_no_numbers(text in "[A-Za-z]{1,12}( [A-Za-z]{1,12}){0,3}") {
            for form in [NumberForm::Plain, NumberForm::SecondsHundredths] {
                prop_assert_eq!(values(&text, form), Vec::<f64>::new());
            }
        }
    }
}
