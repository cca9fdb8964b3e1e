//! Numbers as a spreadsheet shows them: whole and decimal places, thousands, per cent and dates. Other
//! formats show the plain number.

const DAY: f64 = 86_400.0;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Format {
    #[default]
    General,
    Fixed {
        places: usize,
        thousands: bool,
        percent: bool,
    },
    Date,
    Time,
}

impl Format {
    /// By the number that is built in, or the code of the file.
    pub(super) fn of(id: u32, code: Option<&str>) -> Self {
        if let Some(code) = code {
            return Self::by_code(code);
        }
        let fixed = |places, thousands, percent| Self::Fixed {
            places,
            thousands,
            percent,
        };
        match id {
            1 => fixed(0, false, false),
            2 => fixed(2, false, false),
            3 => fixed(0, true, false),
            4 => fixed(2, true, false),
            9 => fixed(0, false, true),
            10 => fixed(2, false, true),
            14..=17 | 22 => Self::Date,
            18..=21 | 45..=47 => Self::Time,
            _ => Self::General,
        }
    }

    fn by_code(code: &str) -> Self {
        let positive = code.split(';').next().unwrap_or_default();
        let bare = bare(positive).to_lowercase();
        if bare.contains("general") || bare.is_empty() {
            return Self::General;
        }
        if bare.contains(['y', 'd']) {
            return Self::Date;
        }
        if bare.contains(['h', 's']) {
            return Self::Time;
        }
        let (number, percent) = match bare.strip_suffix('%') {
            Some(number) => (number, true),
            None => (&*bare, false),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let known = whole.bytes().all(|byte| matches!(byte, b'0' | b'#' | b','))
            && whole.ends_with('0')
            && fraction.bytes().all(|byte| byte == b'0');
        match known {
            true => Self::Fixed {
                places: fraction.len().min(30),
                thousands: whole.contains(','),
                percent,
            },
            false => Self::General,
        }
    }

    /// `from_1904`: days are counted from that year.
    pub(super) fn shown(self, number: f64, from_1904: bool) -> String {
        match self {
            Self::General => plain(number),
            Self::Fixed {
                places,
                thousands,
                percent,
            } => {
                let number = if percent { number * 100.0 } else { number };
                let mut text = format!("{number:.places$}");
                if thousands {
                    text = grouped(&text);
                }
                text + if percent { "%" } else { "" }
            }
            Self::Date => date(number, from_1904).unwrap_or_else(|| plain(number)),
            Self::Time => match (0.0..1.0).contains(&number) {
                true => clock(number),
                false => date(number, from_1904).unwrap_or_else(|| plain(number)),
            },
        }
    }
}

/// A code without what is quoted, in brackets or only takes room.
fn bare(code: &str) -> String {
    let mut bare = String::new();
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => while letters.next().is_some_and(|letter| letter != '"') {},
            '[' => while letters.next().is_some_and(|letter| letter != ']') {},
            '\\' | '_' | '*' => {
                letters.next();
            }
            _ => bare.push(letter),
        }
    }
    bare
}

/// Fifteen digits, as spreadsheets have them: 0.1 + 0.2 is 0.3.
fn plain(number: f64) -> String {
    let rounded = format!("{number:.14e}").parse().unwrap_or(number);
    format!("{rounded}")
}

fn grouped(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut groups = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            groups.push(',');
        }
        groups.push(digit);
    }
    groups + fraction
}

/// The day that a number stands for, with its time where it has one.
fn date(number: f64, from_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&number) {
        return None;
    }
    let (mut day, mut part) = (number.floor() as i64, number.fract());
    if (part * DAY).round() >= DAY {
        (day, part) = (day + 1, 0.0);
    }
    // Days since 1970. That 1900 was a leap year is an error that all programs have kept.
    let since = match (from_1904, day) {
        (true, _) => day - 24_107,
        (false, 0..60) => day - 25_568,
        (false, _) => day - 25_569,
    };
    let day = civil(since);
    match (part * DAY).round() as i64 {
        0 => Some(day),
        _ => Some(format!("{day}T{}", clock(part))),
    }
}

fn clock(part: f64) -> String {
    let seconds = (part * DAY).round() as i64;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// Year, month and day of a count of days since 1970, by the calendar of today: years begin in March, so
/// that the leap day is the last of a year, and repeat after 400.
fn civil(since: i64) -> String {
    let days = since + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_shown_by_their_format() {
        for (code, number, expected) in [
            ("General", 12.5, "12.5"),
            ("General", 0.1 + 0.2, "0.3"),
            ("0.00", 3.0, "3.00"),
            ("#,##0.00", -1_234_567.5, "-1,234,567.50"),
            ("#,##0_);(#,##0)", 1234.0, "1,234"),
            ("0.00%", 0.125, "12.50%"),
            ("0%", 0.5, "50%"),
            ("yyyy\\-mm\\-dd", 45_292.0, "2024-01-01"),
            ("[$-409]d mmm yyyy;@", 36_526.0, "2000-01-01"),
            ("m/d/yy h:mm", 45_292.75, "2024-01-01T18:00:00"),
            ("h:mm:ss", 0.5, "12:00:00"),
            ("d", 59.0, "1900-02-28"),
            ("d", 61.0, "1900-03-01"),
            ("[$€-407]\\ 0", 5.0, "5"),
            ("0.00E+00", 5.0, "5"),
            ("# ?/?", 0.5, "0.5"),
        ] {
            assert_eq!(
                Format::of(164, Some(code)).shown(number, false),
                expected,
                "{code}"
            );
        }
        assert_eq!(Format::of(14, None).shown(43_830.0, true), "2024-01-01");
        assert_eq!(Format::of(0, None).shown(7.0, false), "7");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(code in "\\PC{0,12}", number: f64, id in 0_u32..60) {
            let _ = Format::of(id, Some(&code)).shown(number, false);
            let _ = Format::of(id, None).shown(number, true);
        }
    }
}
