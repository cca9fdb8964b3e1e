//! Numbers as JSON and Python write them.

use serde_json::Number;

use super::cursor::Cursor;
use super::refusal::Refusal;

/// Longer than any number that means something; longer ones are refused.
const MAX_DIGITS: usize = 400;

/// A number with its sign, if one begins here.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number, Refusal> {
    let start = cursor.at();
    let mut text = String::new();
    if cursor.eat(b'-') {
        text.push('-');
    } else {
        cursor.eat(b'+');
    }
    let mut whole = true;
    let mut digits = take_digits(cursor, &mut text);
    if cursor.eat(b'.') {
        whole = false;
        text.push('.');
        digits += take_digits(cursor, &mut text);
    }
    if digits == 0 {
        return Err(Refusal::broken("expected a number", start));
    }
    if cursor.eat(b'e') || cursor.eat(b'E') {
        whole = false;
        text.push('e');
        if cursor.eat(b'-') {
            text.push('-');
        } else {
            cursor.eat(b'+');
        }
        if take_digits(cursor, &mut text) == 0 {
            return Err(Refusal::broken(
                "expected the digits of an exponent",
                cursor.at(),
            ));
        }
    }
    if let Some(byte) = cursor.peek()
        && (byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || !byte.is_ascii())
    {
        return Err(Refusal::broken("expected the end of a number", cursor.at()));
    }
    if text.len() > MAX_DIGITS {
        return Err(Refusal::broken("expected a shorter number", start));
    }
    understood(&text, whole).ok_or_else(|| Refusal::broken("expected a finite number", start))
}

/// Digits, with single underscores between them.
fn take_digits(cursor: &mut Cursor<'_>, text: &mut String) -> usize {
    let mut count = 0;
    loop {
        match cursor.peek() {
            Some(digit @ b'0'..=b'9') => {
                text.push(char::from(digit));
                count += 1;
            }
            Some(b'_') if count > 0 && cursor.byte(1).is_some_and(|next| next.is_ascii_digit()) => {
            }
            _ => return count,
        }
        cursor.bump();
    }
}

/// Whole numbers stay exact as far as there is room.
fn understood(text: &str, whole: bool) -> Option<Number> {
    // "-0" is a number of its own among the floating ones alone.
    if whole && text != "-0" {
        if let Ok(number) = text.parse::<u64>() {
            return Some(number.into());
        }
        if let Ok(number) = text.parse::<i64>() {
            return Some(number.into());
        }
    }
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<serde_json::Value, String> {
        let mut cursor = Cursor::new(text).unwrap();
        number(&mut cursor)
            .map(serde_json::Value::Number)
            .map_err(|refusal| refusal.why.into_owned())
    }

    #[test]
    fn numbers_of_both_languages_are_read() {
        for (text, expected) in [
            ("0", json!(0)),
            ("+12,", json!(12)),
            ("-3 ", json!(-3)),
            ("1_000_000]", json!(1_000_000)),
            ("1.5e3}", json!(1500.0)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("2E-2", json!(0.02)),
            ("007", json!(7)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551616", json!(18446744073709551616.0)),
            ("-0.0", json!(-0.0)),
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "-", ".", "1e", "1e+", "12px", "1__0", "1_", "0x10", "1.2.3", "1e999", "-1e999", "1j",
            "-x", "5€",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"9".repeat(500)).unwrap_err().contains("shorter"));
        assert!(read("1e999").unwrap_err().contains("finite"));
    }
}
