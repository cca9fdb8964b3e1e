//! Which key each number of the keyboard is now, by the server's own mapping. A mapping that changes
//! is read again; a key whose meaning at that moment can't be known has none.

use x11rb::connection::{Connection, SequenceNumber};
use x11rb::protocol::xproto::{ConnectionExt as _, GetKeyboardMappingReply, Keycode};

use crate::error::DesktopError;
use crate::key::Key;
use crate::x11::XConnection;

#[derive(Debug)]
pub(super) struct Keymap {
    first: Keycode,
    keys: Vec<Meanings>,
}

/// Plain and with Shift.
type Meanings = [Option<Key>; 2];

impl Keymap {
    /// Also says which request asked for it.
    pub(super) fn read(x: &XConnection) -> Result<(Self, SequenceNumber), DesktopError> {
        let setup = x.x().setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let count = last.saturating_sub(first).saturating_add(1);
        let asked = x.x().get_keyboard_mapping(first, count)?;
        let sequence = asked.sequence_number();
        Ok((Self::of(first, &asked.reply()?), sequence))
    }

    fn of(first: Keycode, reply: &GetKeyboardMappingReply) -> Self {
        let each = usize::from(reply.keysyms_per_keycode).max(1);
        let key = |keysym: &u32| Key::from_keysym(*keysym);
        let meanings = |keysyms: &[u32]| {
            let plain = keysyms.iter().find_map(key);
            [plain, keysyms.get(1).and_then(key)]
        };
        Self {
            first,
            keys: reply.keysyms.chunks(each).map(meanings).collect(),
        }
    }

    /// What a key is: what it means without Shift.
    pub(super) fn key(&self, code: Keycode) -> Option<Key> {
        self.meanings(code)[0]
    }

    /// What a key is while Shift is held. That is the same, unless it means two things that have
    /// nothing to do with each other, as keys do that are lent to characters of no layout.
    pub(super) fn shifted(&self, code: Keycode) -> Option<Key> {
        let [plain, shifted] = self.meanings(code);
        let folded = |key: Key| key.character().map(|c| c.to_lowercase().to_string());
        match (plain, shifted) {
            (Some(plain), Some(shifted))
                if plain.vk().is_none() && folded(plain) != folded(shifted) =>
            {
                Some(shifted)
            }
            _ => plain,
        }
    }

    fn meanings(&self, code: Keycode) -> Meanings {
        let at = code.checked_sub(self.first).map(usize::from);
        at.and_then(|at| self.keys.get(at))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.keys.iter().any(|[plain, _]| *plain == Some(key))
    }
}

#[cfg(test)]
impl Keymap {
    /// With one meaning for each key.
    pub(super) fn with(first: Keycode, keysyms: &[u32]) -> Self {
        let reply = GetKeyboardMappingReply {
            keysyms_per_keycode: 1,
            keysyms: keysyms.to_vec(),
            ..Default::default()
        };
        Self::of(first, &reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_it_means_without_shift() {
        let reply = GetKeyboardMappingReply {
            keysyms_per_keycode: 2,
            keysyms: vec![0x61, 0x41, 0, 0, 0, 0xff51],
            ..Default::default()
        };
        let keymap = Keymap::of(8, &reply);
        assert_eq!(keymap.key(8), Key::from_char('a'));
        assert_eq!(keymap.key(9), None);
        assert_eq!(keymap.key(10), Some(Key::Left));
        assert_eq!(keymap.key(11), None);
        assert_eq!(keymap.key(7), None);
        assert_eq!(keymap.shifted(8), Key::from_char('a'));
        assert!(keymap.has(Key::Left) && !keymap.has(Key::Right));
        Keymap::of(8, &GetKeyboardMappingReply::default());
    }

    #[test]
    fn a_key_lent_to_two_characters_is_the_one_that_is_typed() {
        let reply = GetKeyboardMappingReply {
            keysyms_per_keycode: 2,
            keysyms: vec![0xe4, 0x0100_6f22, 0xe4, 0xc4, 0x31, 0x21],
            ..Default::default()
        };
        let keymap = Keymap::of(8, &reply);
        let is = |code, plain: char, shifted: char| {
            assert_eq!(keymap.key(code), Key::from_char(plain));
            assert_eq!(keymap.shifted(code), Key::from_char(shifted));
        };
        is(8, 'ä', '漢');
        is(9, 'ä', 'ä');
        is(10, '1', '1');
    }
}
