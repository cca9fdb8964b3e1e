//! How numbers are written for people, and how foreign texts are made harmless: names, reasons and
//! messages come from tasks and agents and may hold escape sequences, line breaks or tricks with
//! the writing direction.

use agon_core::TimeSplit;

use crate::confidence::Interval;

/// What stands for a number that does not exist.
pub(crate) const NONE: &str = "-";

/// The text on one line, without control and direction characters.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c if is_unseen(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Control characters, and format characters that reorder or hide what is around them.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text, or its beginning and "..." if it has more than `most` characters.
pub fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    kept + "..."
}

pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub fn maybe_percent(share: Option<f64>) -> String {
    share.map_or_else(|| NONE.to_owned(), percent)
}

/// `35.4 to 87.9 %`.
pub fn range(interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high, .. }) => {
            format!("{:.1} to {:.1} %", low * 100.0, high * 100.0)
        }
        None => NONE.to_owned(),
    }
}

/// `35.4-87.9`, for columns of percentages.
pub(crate) fn bounds(interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high, .. }) => format!("{:.1}-{:.1}", low * 100.0, high * 100.0),
        None => NONE.to_owned(),
    }
}

/// A measured value: `12.34`, `1250`.
pub fn value(number: f64) -> String {
    if number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

/// `3.70 to 9.36`.
pub(crate) fn measured_range(interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high, .. }) => format!("{} to {}", value(low), value(high)),
        None => NONE.to_owned(),
    }
}

/// `0.41 s`, `12.3 s`, `4 min 5 s`, `2 h 3 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7_200.0 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3_600, whole % 3_600 / 60),
    }
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn time_split(split: &TimeSplit) -> String {
    let total = split.total();
    let part = |name: &str, seconds: f64| {
        let share = if total > 0.0 { seconds / total } else { 0.0 };
        format!("{name} {} ({:.0} %)", duration(seconds), share * 100.0)
    };
    format!(
        "{}: {}, {}, {}",
        duration(total),
        part("agent", split.agent),
        part("environment", split.environment),
        part("harness", split.harness)
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn foreign_texts_become_one_harmless_line() {
        assert_eq!(plain("a\x1b[31mred\x07\r\n\tb"), "a[31mred b");
        assert_eq!(plain("abc\u{202e}cba\u{200b}"), "abccba");
        assert_eq!(plain("größe 日本"), "größe 日本");
    }

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(duration(0.407), "0.41 s");
        assert_eq!(duration(64.0), "64.0 s");
        assert_eq!(duration(245.2), "4 min 5 s");
        assert_eq!(duration(7_380.0), "2 h 3 min");
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abc...");
    }

    proptest! {
        #[test]
        fn no_control_character_survives(text in any::<String>()) {
            prop_assert!(!plain(&text).chars().any(is_unseen));
        }
    }
}
