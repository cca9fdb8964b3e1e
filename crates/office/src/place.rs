//! Places of cells, as people write them: `B7`, `A1:C3`.

use std::fmt;

/// Most rows and columns of a sheet; what lies beyond is not read.
pub(crate) const ROWS: u32 = 1 << 20;
pub(crate) const COLUMNS: u32 = 1 << 14;

/// Both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub row: u32,
    pub column: u32,
}

impl Place {
    /// `B7`, with or without the `$` of a fixed place.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('$').unwrap_or(text);
        let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (letters, digits) = text.split_at(letters);
        let digits = digits.strip_prefix('$').unwrap_or(digits);
        let known = (1..=3).contains(&letters.len())
            && (1..=7).contains(&digits.len())
            && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !known {
            return None;
        }
        let column = letters.bytes().fold(0, |column, letter| {
            column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1
        });
        let row: u32 = digits.parse().ok()?;
        let place = Self {
            row: row.checked_sub(1)?,
            column: column - 1,
        };
        (place.row < ROWS && place.column < COLUMNS).then_some(place)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = Vec::new();
        let mut left = self.column + 1;
        while left > 0 {
            letters.push(char::from(b'A' + ((left - 1) % 26) as u8));
            left = (left - 1) / 26;
        }
        let letters: String = letters.iter().rev().collect();
        write!(f, "{letters}{}", self.row + 1)
    }
}

/// A rectangle of cells, both corners within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    first: Place,
    last: Place,
}

impl Area {
    /// One place, or two corners with a colon between them.
    pub fn parse(text: &str) -> Option<Self> {
        let (one, other) = text.split_once(':').unwrap_or((text, text));
        let (one, other) = (Place::parse(one)?, Place::parse(other)?);
        Some(Self {
            first: Place {
                row: one.row.min(other.row),
                column: one.column.min(other.column),
            },
            last: Place {
                row: one.row.max(other.row),
                column: one.column.max(other.column),
            },
        })
    }

    pub(crate) fn corners(&self) -> (Place, Place) {
        (self.first, self.last)
    }

    pub fn cells(&self) -> u64 {
        let side = |first: u32, last: u32| u64::from(last - first) + 1;
        side(self.first.row, self.last.row) * side(self.first.column, self.last.column)
    }

    /// Row by row.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let Self { first, last } = *self;
        (first.row..=last.row).flat_map(move |row| {
            (first.column..=last.column).map(move |column| Place { row, column })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_and_areas() {
        let place = |row, column| Some(Place { row, column });
        for (text, expected) in [
            ("A1", place(0, 0)),
            ("$B$7", place(6, 1)),
            ("aa10", place(9, 26)),
            ("XFD1048576", place(ROWS - 1, COLUMNS - 1)),
            ("XFE1", None),
            ("A0", None),
            ("A1048577", None),
            ("1", None),
            ("A", None),
            ("A1.", None),
            ("", None),
        ] {
            assert_eq!(Place::parse(text), expected, "{text}");
        }
        let area = Area::parse("B3:A2").unwrap();
        let shown: Vec<_> = area.places().map(|place| place.to_string()).collect();
        assert_eq!(shown, ["A2", "B2", "A3", "B3"]);
        assert_eq!(Area::parse("A1:XFD1048576").unwrap().cells(), 1 << 34);
        assert_eq!(Area::parse("C5").unwrap().cells(), 1);
    }

    proptest! {
        #[test]
        fn what_is_printed_can_be_read(row in 0..ROWS, column in 0..COLUMNS) {
            let place = Place { row, column };
            prop_assert_eq!(Place::parse(&place.to_string()), Some(place));
        }
        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,12}") {
            let _ = Area::parse(&text);
        }
    }
}
