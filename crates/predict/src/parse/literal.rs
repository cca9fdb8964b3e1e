//! Text in quotes, as JSON and Python write it.

use super::cursor::Cursor;
use super::refusal::Refusal;

/// What the letters before the quote ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    Read,
    /// `r'..'`
    Kept,
}

/// The prefix of a quoted text: `r`, `u`, `b` and their like. `f` is not among them: it asks for
/// something to be evaluated.
pub(super) fn prefix(name: &str) -> Option<Escapes> {
    match name.to_ascii_lowercase().as_str() {
        "u" | "b" => Some(Escapes::Read),
        "r" | "rb" | "br" => Some(Escapes::Kept),
        _ => None,
    }
}

/// Text in quotes, of which the first is next.
pub(super) fn literal(cursor: &mut Cursor<'_>, escapes: Escapes) -> Result<String, Refusal> {
    let start = cursor.at();
    let Some(quote @ (b'"' | b'\'')) = cursor.peek() else {
        return Err(Refusal::broken("expected text in quotes", start));
    };
    cursor.bump();
    let triple = cursor.peek() == Some(quote) && cursor.byte(1) == Some(quote);
    if triple {
        cursor.bump();
        cursor.bump();
    }
    let mut text = String::new();
    loop {
        if cursor.peek() == Some(quote)
            && (!triple || (cursor.byte(1) == Some(quote) && cursor.byte(2) == Some(quote)))
        {
            let quotes = if triple { 3 } else { 1 };
            (0..quotes).for_each(|_| {
                cursor.bump();
            });
            return Ok(text);
        }
        match cursor.bump() {
            None => return Err(unclosed(start)),
            Some('\n' | '\r') if !triple => return Err(unclosed(start)),
            Some('\\') if escapes == Escapes::Read => escape(cursor, &mut text)?,
            Some('\\') => {
                // A quote after it does not close the text, and the backslash stays all the same.
                text.push('\\');
                text.extend(cursor.bump());
            }
            Some(letter) => text.push(letter),
        }
    }
}

/// Quotes as word processors set them, and what closes them.
const TYPOGRAPHIC: [(char, char); 2] = [('\u{201c}', '\u{201d}'), ('\u{2018}', '\u{2019}')];

pub(super) fn begins_typographic(cursor: &Cursor<'_>) -> bool {
    TYPOGRAPHIC
        .iter()
        .any(|(open, _)| cursor.rest().starts_with(*open))
}

/// Text in such quotes; nothing in it is escaped.
pub(super) fn typographic(cursor: &mut Cursor<'_>) -> Result<String, Refusal> {
    let start = cursor.at();
    let open = cursor.bump();
    let close = TYPOGRAPHIC.iter().find(|(quote, _)| Some(*quote) == open);
    let close = close.map(|(_, close)| *close);
    let mut text = String::new();
    loop {
        match cursor.bump() {
            None | Some('\n' | '\r') => return Err(unclosed(start)),
            letter if letter == close => return Ok(text),
            Some(letter) => text.push(letter),
        }
    }
}

fn unclosed(start: usize) -> Refusal {
    Refusal::broken("expected the closing quote of this text", start)
}

/// What stands after a backslash.
fn escape(cursor: &mut Cursor<'_>, text: &mut String) -> Result<(), Refusal> {
    let at = cursor.at();
    let Some(letter) = cursor.bump() else {
        return Err(Refusal::broken("expected a letter after `\\`", at));
    };
    match letter {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'b' => text.push('\u{8}'),
        'f' => text.push('\u{c}'),
        'a' => text.push('\u{7}'),
        'v' => text.push('\u{b}'),
        '\\' | '\'' | '"' | '/' => text.push(letter),
        '\n' => {}
        '\r' => {
            cursor.eat(b'\n');
        }
        '0'..='7' => {
            let mut code = u32::from(letter) - u32::from('0');
            for _ in 0..2 {
                let Some(digit @ b'0'..=b'7') = cursor.peek() else {
                    break;
                };
                cursor.bump();
                code = code * 8 + u32::from(digit - b'0');
            }
            text.push(character(code));
        }
        'x' => {
            let code = hex(cursor, 2)?;
            text.push(character(code));
        }
        'u' => {
            let code = hex(cursor, 4)?;
            text.push(character(paired(cursor, code)?));
        }
        'U' => {
            let code = hex(cursor, 8)?;
            text.push(character(code));
        }
        'N' => return Err(Refusal::broken("expected no character by its name", at)),
        other => text.extend(['\\', other]),
    }
    Ok(())
}

/// JSON writes rare characters as two halves.
fn paired(cursor: &mut Cursor<'_>, first: u32) -> Result<u32, Refusal> {
    let back = cursor.at();
    if (0xd800..0xdc00).contains(&first) && cursor.eat(b'\\') && cursor.eat(b'u') {
        let second = hex(cursor, 4)?;
        if (0xdc00..0xe000).contains(&second) {
            return Ok(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        }
    }
    cursor.go_to(back);
    Ok(first)
}

/// A half alone is no character.
fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn hex(cursor: &mut Cursor<'_>, digits: usize) -> Result<u32, Refusal> {
    let mut code: u32 = 0;
    for _ in 0..digits {
        let at = cursor.at();
        let digit = cursor.bump().and_then(|letter| letter.to_digit(16));
        let digit = digit.ok_or_else(|| Refusal::broken("expected a hexadecimal digit", at))?;
        code = (code << 4) | digit;
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let mut cursor = Cursor::new(text).unwrap();
        let escapes = match cursor.name() {
            None => Escapes::Read,
            Some(name) => prefix(name).ok_or("prefix")?,
        };
        literal(&mut cursor, escapes).map_err(|refusal| refusal.why.into_owned())
    }

    #[test]
    fn quotes_of_both_languages_are_read() {
        for (text, expected) in [
            (r#""a'b""#, "a'b"),
            (r#"'a"b'"#, "a\"b"),
            ("''", ""),
            ("''''a''b\n'''", "'a''b\n"),
            ("\"\"\"a\"b\"\"\"", "a\"b"),
            (r"'\n\t\\\'\x41\101\0'", "\n\t\\'AA\0"),
            (r#""\u00e4\ud83d\ude00\/""#, "ä😀/"),
            (r#""\ud83d!""#, "\u{fffd}!"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r"'\U0001F600'", "😀"),
            (r"'\q'", "\\q"),
            ("'a\\\nb'", "ab"),
            ("'a\\\r\nb'", "ab"),
            (r"r'\n\''", "\\n\\'"),
            ("U'ü'", "ü"),
            ("b'x'", "x"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "'a",
            "'a\nb'",
            "'''a''",
            r"'\",
            r"'\x4'",
            r"'\u12g4'",
            r"'\N{DASH}'",
            "f'{x}'",
            "x'a'",
            "a",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
