//! Keys given by a number. The rule: a single digit is a character; two or three decimal digits, or
//! `0x` and at most two hexadecimal ones, are a virtual key; `0x` and more are a keysym of X; `U` and
//! at least four hexadecimal ones are a code point.

use super::Key;

pub(super) fn virtual_key(word: &str) -> Option<u16> {
    match hexadecimal(word) {
        Some(digits) => u16::from_str_radix(digits, 16)
            .ok()
            .filter(|_| digits.len() <= 2),
        None if word.len() > 1 && all(word, |c| c.is_ascii_digit()) => word.parse().ok(),
        None => None,
    }
}

pub(super) fn keysym(word: &str) -> Option<Key> {
    let digits = hexadecimal(word).filter(|digits| digits.len() > 2)?;
    Key::from_keysym(u32::from_str_radix(digits, 16).ok()?)
}

/// `U20AC` as X writes it, `U+20AC` as others do.
pub(super) fn code_point(word: &str) -> Option<Key> {
    let digits = word.strip_prefix(['U', 'u'])?;
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let number = (4..=6).contains(&digits.len()) && all(digits, |c| c.is_ascii_hexdigit());
    let number = number.then(|| u32::from_str_radix(digits, 16))?.ok()?;
    char::from_u32(number).and_then(Key::from_char)
}

fn hexadecimal(word: &str) -> Option<&str> {
    word.strip_prefix("0x")
        .or_else(|| word.strip_prefix("0X"))
        .filter(|digits| all(digits, |c| c.is_ascii_hexdigit()))
}

fn all(digits: &str, is_one: fn(char) -> bool) -> bool {
    !digits.is_empty() && digits.chars().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_digits_decide() {
        assert_eq!(virtual_key("0x27"), Some(0x27));
        assert_eq!(virtual_key("0X9"), Some(9));
        assert_eq!(virtual_key("39"), Some(39));
        assert_eq!(virtual_key("08"), Some(8));
        for none in ["9", "", "0x", "0x-1", "+39", "0x127", "70000", "3a", "٣٣"] {
            assert_eq!(virtual_key(none), None, "{none}");
        }
        assert_eq!(keysym("0xff53"), Some(Key::Right));
        assert_eq!(keysym("0x27"), None);
        assert_eq!(keysym("0xffffffffff"), None);
        assert_eq!(code_point("U+20AC"), Key::from_char('€'));
        assert_eq!(code_point("u0041"), Key::from_char('A'));
        for none in ["U20", "U+D800", "U+110000", "U+0007", "U++20AC"] {
            assert_eq!(code_point(none), None, "{none}");
        }
    }
}
