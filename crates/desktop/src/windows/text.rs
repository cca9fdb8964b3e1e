//! Text that programs say about their windows, made fit to be shown: decoded, bounded, without
//! anything that controls a terminal or reorders what is read.

use x11rb::protocol::xproto::{AtomEnum, GetPropertyReply};

use crate::x11::Atoms;

/// Longest title and name that is told.
const MOST_CHARS: usize = 512;

/// What is read of a text, in units of four bytes: the longest title has no more, in any encoding.
pub(super) const MOST_UNITS: u32 = 1024;

/// The text of a property, whatever of the usual encodings it is in.
pub(super) fn decode(property: &GetPropertyReply, atoms: &Atoms) -> Option<String> {
    if property.format != 8 {
        return None;
    }
    let bytes = &property.value;
    if property.type_ == atoms.UTF8_STRING {
        Some(clean(String::from_utf8_lossy(bytes).chars()))
    } else if property.type_ == u32::from(AtomEnum::STRING) {
        Some(clean(latin1(bytes)))
    } else if property.type_ == atoms.COMPOUND_TEXT {
        Some(clean(compound(bytes).chars()))
    } else {
        None
    }
}

/// The second of two texts that end in NUL: the class, after the name of the instance.
pub(super) fn class(property: &GetPropertyReply) -> Option<String> {
    let mut names = property.value.split(|&byte| byte == 0);
    let instance = names.next()?;
    let class = names.next().filter(|name| !name.is_empty());
    let class = class.unwrap_or(instance);
    (!class.is_empty()).then(|| clean(latin1(class)))
}

fn latin1(bytes: &[u8]) -> impl Iterator<Item = char> {
    bytes.iter().map(|&byte| char::from(byte))
}

/// Compound text: Latin-1 at first, other sets after an escape sequence. Of these only UTF-8 is
/// known; what is in another set shows as unknown characters.
fn compound(mut bytes: &[u8]) -> String {
    const TO_UTF8: &[u8] = b"\x1b%G";
    const FROM_UTF8: &[u8] = b"\x1b%@";
    let mut text = String::new();
    let (mut left_known, mut right_known) = (true, true);
    while let Some((&byte, rest)) = bytes.split_first() {
        if let Some(utf8) = bytes.strip_prefix(TO_UTF8) {
            let end = utf8.windows(3).position(|three| three == FROM_UTF8);
            let (inside, after) = utf8.split_at(end.unwrap_or(utf8.len()));
            text.push_str(&String::from_utf8_lossy(inside));
            bytes = after.strip_prefix(FROM_UTF8).unwrap_or(after);
        } else if byte == 0x1b {
            let between = rest
                .iter()
                .take_while(|b| (0x20..=0x2f).contains(*b))
                .count();
            match rest.get(..=between) {
                Some([b'(', set]) => left_known = *set == b'B',
                Some([b'-', set]) => right_known = *set == b'A',
                // Sets of several bytes.
                Some([b'$', b')' | b'-', ..]) => right_known = false,
                Some([b'$', ..]) => left_known = false,
                _ => {}
            }
            bytes = rest.get(between + 1..).unwrap_or_default();
        } else {
            let known = if byte < 0x80 { left_known } else { right_known };
            text.push(if known {
                char::from(byte)
            } else {
                char::REPLACEMENT_CHARACTER
            });
            bytes = rest;
        }
    }
    text
}

fn clean(chars: impl Iterator<Item = char>) -> String {
    chars.filter(|&c| !is_unfit(c)).take(MOST_CHARS).collect()
}

/// Control characters, separators of lines, marks of direction.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_and_the_rest_of_long_titles_are_left_out() {
        let hostile = "a\x1b[2J\nb\u{202e}c\u{9b}d\0";
        assert_eq!(clean(hostile.chars()), "a[2Jbcd");
        assert_eq!(
            clean("ü".repeat(10_000).chars()).chars().count(),
            MOST_CHARS
        );
    }

    #[test]
    fn compound_text_changes_its_set() {
        assert_eq!(compound(b"f\xfcr \x1b%G\xe2\x82\xac\x1b%@ \xfc"), "für € ü");
        assert_eq!(compound(b"\x1b%G\xe2\x82\xac"), "€");
        assert_eq!(
            compound(b"a\x1b-B\xe1\x1b-A\xe1\x1b(Jb\x1b(Bc"),
            "a\u{fffd}á\u{fffd}c"
        );
        assert_eq!(compound(b"\x1b$)A\xb0\xa1 x"), "\u{fffd}\u{fffd} x");
        assert_eq!(compound(b"\x1b"), "");
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let text = clean(compound(&bytes).chars());
            prop_assert!(!text.chars().any(is_unfit));
        }
    }
}
