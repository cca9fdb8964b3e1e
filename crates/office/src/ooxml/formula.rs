//! Formulas that several cells share: written once, and shifted to where each cell stands.

use crate::place::Place;

/// The formula of `from` as it is in `to`: what is not fixed by a `$` moves with it.
pub(super) fn shifted(formula: &str, from: Place, to: Place) -> String {
    let mut shown = String::with_capacity(formula.len());
    let mut rest = formula;
    let mut before = None;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        let joined = before.is_some_and(is_name);
        if matches!(letter, '"' | '\'') {
            length += rest[length..]
                .find(letter)
                .map_or(rest.len() - length, |end| end + 1);
            shown.push_str(&rest[..length]);
        } else if let Some(found) = reference(rest).filter(|_| !joined) {
            length = found.length;
            shown.push_str(&found.shifted(from, to));
        } else {
            shown.push(letter);
        }
        before = rest[..length].chars().next_back();
        rest = &rest[length..];
    }
    shown
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$')
}

struct Reference {
    length: usize,
    column_fixed: bool,
    row_fixed: bool,
    at: Place,
}

/// A place that a text begins with.
fn reference(text: &str) -> Option<Reference> {
    let count = |text: &str, of: fn(&u8) -> bool| text.bytes().take_while(of).count();
    let column_fixed = text.starts_with('$');
    let letters = &text[usize::from(column_fixed)..];
    let column = count(letters, u8::is_ascii_alphabetic);
    let row = &letters[column..];
    let row_fixed = row.starts_with('$');
    let digits = &row[usize::from(row_fixed)..];
    let row = count(digits, u8::is_ascii_digit);
    let behind = digits[row..].chars().next();
    // `LOG10(` and names such as `A1_old` are no places.
    if behind.is_some_and(|letter| is_name(letter) || letter == '(') {
        return None;
    }
    let length = text.len() - digits.len() + row;
    Some(Reference {
        length,
        column_fixed,
        row_fixed,
        at: Place::parse(&text[..length])?,
    })
}

impl Reference {
    fn shifted(&self, from: Place, to: Place) -> String {
        let moved = |at: u32, fixed: bool, from: u32, to: u32| match fixed {
            true => Some(at),
            false => (i64::from(at) + i64::from(to) - i64::from(from))
                .try_into()
                .ok(),
        };
        let column = moved(self.at.column, self.column_fixed, from.column, to.column);
        let row = moved(self.at.row, self.row_fixed, from.row, to.row);
        let (Some(column), Some(row)) = (column, row) else {
            return "#REF!".to_owned();
        };
        let shown = Place { row, column }.to_string();
        let (letters, digits) =
            shown.split_at(shown.bytes().take_while(u8::is_ascii_alphabetic).count());
        let fixed = |fixed: bool| if fixed { "$" } else { "" };
        format!(
            "{}{letters}{}{digits}",
            fixed(self.column_fixed),
            fixed(self.row_fixed)
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_move_with_their_cell() {
        let place = |text| Place::parse(text).unwrap();
        for (formula, expected) in [
            ("A1*$B$1", "B3*$B$1"),
            ("SUM($A1:A$5)", "SUM($A3:B$5)"),
            ("LOG10(A1)&\"A1\"&'A1'!A1", "LOG10(B3)&\"A1\"&'A1'!B3"),
            ("name_A1+A1x+A1", "name_A1+A1x+B3"),
            ("", ""),
        ] {
            assert_eq!(shifted(formula, place("C1"), place("D3")), expected);
        }
        assert_eq!(shifted("A1", place("C3"), place("C1")), "#REF!");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(formula in "[A-C$0-9:'\"ä(!]{0,20}") {
            let _ = shifted(&formula, Place { row: 5, column: 5 }, Place { row: 0, column: 9 });
        }
    }
}
