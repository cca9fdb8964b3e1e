//! Files without styles: lines of values (CSV) and plain text.

use std::sync::Arc;

use crate::deadline::Deadline;
use crate::document::{Block, Document, ListKind, Paragraph};
use crate::error::OfficeError;
use crate::style::{Run, Style};
use crate::workbook::{Cell, Sheet, Value, Workbook};

/// Cells of one file.
const CELLS: usize = 1_000_000;
/// Paragraphs of one text.
const LINES: usize = 1_000_000;
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// Lines of values, divided by whatever the first line has most of.
pub(crate) fn workbook(bytes: &[u8], deadline: Deadline) -> Result<Workbook, OfficeError> {
    let text = decoded(bytes)?;
    let separator = separator(&text);
    let mut sheet = Sheet::new("");
    let mut cells = 0;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        deadline.check()?;
        let (values, behind) = line(rest, separator);
        cells += values.len();
        if cells > CELLS {
            return Err(OfficeError::TooLarge("it has too many values"));
        }
        let values = values.iter().map(|value| (1, Some(cell(value))));
        sheet.push_rows(1, values.collect());
        rest = behind;
    }
    Ok(Workbook {
        sheets: vec![sheet],
    })
}

/// The values of the first line, and what comes behind it. Written out, because empty lines are rows of a
/// sheet and readers of CSV leave them out.
fn line(text: &str, separator: char) -> (Vec<String>, &str) {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut quoted = false;
    let mut fresh = true;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if quoted => match letters.next_if(|(_, next)| *next == '"') {
                Some(_) => value.push('"'),
                None => quoted = false,
            },
            _ if quoted => value.push(letter),
            '"' if fresh => quoted = true,
            '\n' | '\r' => {
                let mut behind = &text[at + 1..];
                if letter == '\r' {
                    behind = behind.strip_prefix('\n').unwrap_or(behind);
                }
                values.push(value);
                return (values, behind);
            }
            _ if letter == separator => {
                values.push(std::mem::take(&mut value));
                fresh = true;
                continue;
            }
            _ => value.push(letter),
        }
        fresh = false;
    }
    values.push(value);
    (values, "")
}

fn cell(text: &str) -> Arc<Cell> {
    let mut runs = Vec::new();
    Run::push(&mut runs, text, &Style::default());
    let value = match text.trim() {
        "" => Value::Empty,
        "TRUE" | "true" => Value::Truth(true),
        "FALSE" | "false" => Value::Truth(false),
        number => match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Value::Number(value),
            _ => Value::Text,
        },
    };
    Arc::new(Cell {
        value,
        runs,
        ..Cell::default()
    })
}

fn separator(text: &str) -> char {
    let first = text.lines().next().unwrap_or_default();
    let mut quoted = false;
    let mut counts = [0_usize; SEPARATORS.len()];
    for letter in first.chars() {
        quoted ^= letter == '"';
        let which = SEPARATORS.iter().position(|separator| *separator == letter);
        if let Some(which) = which.filter(|_| !quoted) {
            counts[which] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let which = counts.iter().position(|count| *count == most);
    which.map_or(',', |which| SEPARATORS[which])
}

/// One paragraph per line.
pub(crate) fn document(bytes: &[u8], deadline: Deadline) -> Result<Document, OfficeError> {
    let text = decoded(bytes)?;
    if text.lines().nth(LINES).is_some() {
        return Err(OfficeError::TooLarge("it has too many lines"));
    }
    deadline.check()?;
    let paragraph = |line: &str| {
        let mut runs = Vec::new();
        Run::push(&mut runs, line, &Style::default());
        Block::Paragraph(Paragraph {
            style: None,
            list: ListKind::None,
            align: None,
            runs,
        })
    };
    Ok(Document {
        blocks: text.lines().map(paragraph).collect(),
        pictures: 0,
    })
}

/// UTF-8, or UTF-16 that says so, or else Latin 1. A file with other control characters is no text.
fn decoded(bytes: &[u8]) -> Result<String, OfficeError> {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units)
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    let text: String = match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => bytes.iter().copied().map(char::from).collect(),
            }
        }
    };
    let odd = |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{c}');
    if text.chars().any(odd) {
        return Err(OfficeError::Other(
            "no text, and no office file that is known",
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    #[test]
    fn lines_of_a_text_are_bounded() {
        let lines = "\n".repeat(LINES + 1);
        let expected = OfficeError::TooLarge("it has too many lines");
        assert_eq!(document(lines.as_bytes(), Deadline::later()), Err(expected));
    }

    fn at(book: &Workbook, place: &str) -> (String, Value) {
        let cell = book.sheets[0].cell(Place::parse(place).unwrap());
        cell.map_or((String::new(), Value::Empty), |cell| {
            (cell.text(), cell.value)
        })
    }

    #[test]
    fn the_separator_is_found() {
        for text in [
            "a,b\n1.5,x",
            "a;b\n1.5;x",
            "a\tb\n1.5\tx",
            "\"a,;;\"|b\n1.5|x",
        ] {
            let book = workbook(text.as_bytes(), Deadline::later()).unwrap();
            assert_eq!(at(&book, "B2"), ("x".into(), Value::Text), "{text}");
            assert_eq!(
                at(&book, "A2"),
                ("1.5".into(), Value::Number(1.5)),
                "{text}"
            );
        }
    }

    #[test]
    fn quotes_line_ends_and_empty_lines() {
        let book = workbook(b"\n\"a\nb\",\"c\"\"d\"\n\n\nlast,,\n", Deadline::later()).unwrap();
        assert_eq!(at(&book, "A2").0, "a\nb");
        assert_eq!(at(&book, "B2").0, "c\"d");
        assert_eq!(at(&book, "A5").0, "last");
        assert_eq!((book.sheets[0].rows(), book.sheets[0].columns()), (5, 2));
    }

    #[test]
    fn letters_of_other_encodings() {
        for bytes in [
            &b"\xef\xbb\xbf\xc3\xa4"[..],
            b"\xff\xfe\xe4\x00",
            b"\xfe\xff\x00\xe4",
            b"\xe4",
        ] {
            assert_eq!(decoded(bytes).unwrap(), "ä");
        }
        assert!(decoded(b"\x7fELF\x00\x01").is_err());
    }

    #[test]
    fn lines_are_paragraphs() {
        let document = document(b"one\n\ntwo\r\n", Deadline::later()).unwrap();
        let texts: Vec<_> = document.paragraphs().map(Paragraph::text).collect();
        assert_eq!(texts, ["one", "two"]);
        assert_eq!(document.all_paragraphs().len(), 3);
    }
}
