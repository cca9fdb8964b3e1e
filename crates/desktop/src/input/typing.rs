//! Text, typed key by key. A text arrives as it is written: whatever is held or locked is put aside
//! while it is typed.

use std::collections::HashSet;

use super::board::Board;
use super::held::Physical;
use super::seat::Seat;
use crate::error::DesktopError;
use crate::key::Key;

/// Bytes of one text.
pub const LONGEST_TEXT: usize = 1_000_000;

/// Characters after which a program is given time to follow, so that the X server need not keep
/// more for it.
const STRIDE: usize = 2_000;

/// All characters have a key, and there are not too many of them.
pub(super) fn check(text: &str) -> Result<(), DesktopError> {
    if text.len() > LONGEST_TEXT {
        return Err(DesktopError::Invalid(format!(
            "the text has {} bytes: at most {LONGEST_TEXT} are typed at once; put more into a file or the clipboard",
            text.len()
        )));
    }
    match text.chars().position(|c| Key::from_char(c).is_none()) {
        None => Ok(()),
        Some(at) => Err(DesktopError::Invalid(format!(
            "character {} of the text (U+{:04X}) can't be typed: press keys such as Escape by name",
            at + 1,
            text.chars().nth(at).map_or(0, u32::from)
        ))),
    }
}

/// Types a text that was checked.
pub(super) fn type_text(seat: &Seat, board: &mut Board, text: &str) -> Result<(), DesktopError> {
    let x = seat.x();
    seat.held().lift(x, board.layout().modifiers())?;
    let locks = board.unlock(x)?;
    let typed = pieces(seat, board, text);
    if let Some(locks) = locks {
        board.lock(x, locks)?;
    }
    seat.held().put_back(x)?;
    x.sync()?;
    typed
}

fn pieces(seat: &Seat, board: &mut Board, text: &str) -> Result<(), DesktopError> {
    let mut rest = text;
    let mut sent = 0;
    while !rest.is_empty() {
        let off_layout = |key| board.layout().find(key).is_none();
        let (piece, keys) = first_piece(rest, off_layout, board.capacity());
        board.provide(seat.x(), seat.held(), &keys)?;
        rest = &rest[piece.len()..];
        let mut shifted = false;
        let strokes = strokes(seat, board, piece, &mut shifted, &mut sent);
        if shifted {
            seat.held()
                .unstroke(seat.x(), Physical::Key(board.shift()?))?;
        }
        strokes?;
    }
    Ok(())
}

/// `shifted` says whether Shift is down, `sent` counts characters.
fn strokes(
    seat: &Seat,
    board: &mut Board,
    piece: &str,
    shifted: &mut bool,
    sent: &mut usize,
) -> Result<(), DesktopError> {
    let (x, held) = (seat.x(), seat.held());
    let shift = Physical::Key(board.shift()?);
    for key in piece.chars().filter_map(Key::from_char) {
        let place = board.find(key).ok_or_else(|| {
            DesktopError::Unsupported(format!("the keyboard has no free codes to type {key} with"))
        })?;
        if place.shift != *shifted {
            *shifted = place.shift;
            if *shifted {
                held.stroke(x, shift)?;
            } else {
                held.unstroke(x, shift)?;
            }
        }
        let key = Physical::Key(place.keycode);
        held.stroke(x, key)?;
        held.unstroke(x, key)?;
        *sent += 1;
        if sent.is_multiple_of(STRIDE) {
            board.keep_pace(x)?;
        }
    }
    Ok(())
}

/// The longest beginning of `text` with at most `capacity` different keys that are not on the layout,
/// and those keys. Never empty, so that whoever has no codes at all finds out.
fn first_piece(
    text: &str,
    off_layout: impl Fn(Key) -> bool,
    capacity: usize,
) -> (&str, HashSet<Key>) {
    let mut keys = HashSet::new();
    for (at, character) in text.char_indices() {
        let key = Key::from_char(character).filter(|key| off_layout(*key));
        if let Some(key) = key.filter(|key| !keys.contains(key)) {
            if keys.len() >= capacity.max(1) {
                return (&text[..at], keys);
            }
            keys.insert(key);
        }
    }
    (text, keys)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_looked_at_before_anything_is_typed() {
        check("Hello,\tWörld\r\n漢字 😀").unwrap();
        check("").unwrap();
        for bad in ["\0", "a\x1b[31m", "\u{7f}", "\u{fffe}", "a\u{9b}"] {
            assert!(check(bad).unwrap_err().is_callers(), "{bad:?}");
        }
        assert!(
            check("ab\x07")
                .unwrap_err()
                .to_string()
                .contains("character 3 of the text (U+0007)")
        );
        check(&"a".repeat(LONGEST_TEXT)).unwrap();
        assert!(
            check(&"a".repeat(LONGEST_TEXT + 1))
                .unwrap_err()
                .is_callers()
        );
    }

    #[test]
    fn a_piece_ends_where_codes_run_out() {
        let off = |key: Key| key.keysym() > 0x7f;
        let piece = |text: &'static str, capacity| first_piece(text, off, capacity).0;
        assert_eq!(piece("aäböcüd", 2), "aäböc");
        assert_eq!(piece("äöäöab", 2), "äöäöab");
        assert_eq!(piece("äö", 0), "ä");
        assert_eq!(piece("abc", 0), "abc");
        assert_eq!(piece("", 3), "");
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_text(text in "[a-eä-ëа-е]{0,80}", capacity in 1_usize..5) {
            let off = |key: Key| key.keysym() > 0x7f;
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (piece, keys) = first_piece(rest, off, capacity);
                prop_assert!(!piece.is_empty() && keys.len() <= capacity);
                rest = &rest[piece.len()..];
            }
        }
    }
}
