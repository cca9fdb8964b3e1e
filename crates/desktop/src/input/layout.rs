//! The layout of a keyboard as the X server has it: which keycode means which key, plain and with
//! Shift. Pure: made from the server's answers, sends nothing.

use std::collections::HashMap;

use super::spare::Spare;
use crate::key::Key;

/// Where a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) keycode: u8,
    pub(super) shift: bool,
    /// Num Lock turns the meaning of Shift around.
    pub(super) keypad: bool,
}

impl Position {
    pub(super) const fn plain_or_shift(keycode: u8, shift: bool) -> Self {
        Self {
            keycode,
            shift,
            keypad: false,
        }
    }
}

/// Keysyms of media keys and the like, which keyboards that nobody sits at can do without.
const MEDIA: std::ops::RangeInclusive<u32> = 0x1008_0000..=0x1008_ffff;

/// The first keycode is one that some programs take for "none".
const FIRST_SPARE: u8 = 9;

/// The answers to GetKeyboardMapping and GetModifierMapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) first: u8,
    pub(super) per_keycode: usize,
    pub(super) keysyms: Vec<u32>,
    /// Keycodes of all modifiers, and of the one that Num Lock is.
    pub(super) modifiers: [Vec<u8>; 8],
}

impl Mapping {
    fn rows(&self) -> impl Iterator<Item = (u8, &[u32])> {
        let rows = self.keysyms.chunks_exact(self.per_keycode.max(1));
        (self.first..=u8::MAX).zip(rows)
    }

    /// What a keycode means, plain and with Shift.
    pub(super) fn meaning(&self, keycode: u8) -> Option<[u32; 2]> {
        let (_, row) = self.rows().find(|(code, _)| *code == keycode)?;
        Some([0, 1].map(|level| row.get(level).copied().unwrap_or(0)))
    }
}

#[derive(Debug)]
pub(super) struct Layout {
    places: HashMap<Key, Position>,
    /// What every keycode means without Shift, and with.
    meanings: HashMap<u8, [Option<Key>; 2]>,
    modifiers: Vec<u8>,
    /// The bit that Num Lock sets, 0 without such a key.
    num_lock: u8,
}

impl Layout {
    /// `ours` are keycodes whose meanings are ours and no part of the layout.
    pub(super) fn new(mapping: &Mapping, ours: &[u8]) -> Self {
        let mut meanings = HashMap::new();
        for (keycode, row) in mapping.rows().filter(|(code, _)| !ours.contains(code)) {
            let at = |level: usize| row.get(level).copied().and_then(Key::from_keysym);
            meanings.insert(keycode, [at(0), at(1)]);
        }
        let mut places = HashMap::new();
        for shift in [false, true] {
            for (keycode, _) in mapping.rows() {
                let Some(both) = meanings.get(&keycode) else {
                    continue;
                };
                if let Some(key) = both[usize::from(shift)].filter(|key| reached(*key, shift)) {
                    places.entry(key).or_insert(Position {
                        keycode,
                        shift,
                        keypad: both.iter().flatten().any(|key| key.is_on_keypad()),
                    });
                }
            }
        }
        let is_num_lock = |code: &u8| {
            meanings
                .get(code)
                .is_some_and(|m| m[0] == Some(Key::NumLock))
        };
        let num_lock = mapping
            .modifiers
            .iter()
            .position(|codes| codes.iter().any(is_num_lock));
        Self {
            places,
            num_lock: num_lock.map_or(0, |bit| 1 << bit),
            modifiers: mapping.modifiers.iter().flatten().copied().collect(),
            meanings,
        }
    }

    pub(super) fn find(&self, key: Key) -> Option<Position> {
        self.places.get(&key).copied()
    }

    /// What a keycode means without Shift.
    pub(super) fn plain(&self, keycode: u8) -> Option<Key> {
        self.meanings.get(&keycode)?[0]
    }

    /// What a keycode means with Shift.
    pub(super) fn shifted(&self, keycode: u8) -> Option<Key> {
        self.meanings.get(&keycode)?[1]
    }

    pub(super) fn modifiers(&self) -> &[u8] {
        &self.modifiers
    }

    pub(super) const fn num_lock(&self) -> u8 {
        self.num_lock
    }
}

/// Whether Shift is the way to the second meaning: it is for characters, but Break and SysRq are
/// reached by Control and Alt.
fn reached(key: Key, shift: bool) -> bool {
    !shift || key.character().is_some()
}

/// Keycodes that mean nothing; where nobody sits at the keyboard, those of media keys as well.
pub(super) fn spare(mapping: &Mapping, nobody_sits_there: bool) -> Spare {
    let nothing = |keysym: &u32| *keysym == 0 || (nobody_sits_there && MEDIA.contains(keysym));
    let modifier = |code: &u8| mapping.modifiers.iter().flatten().any(|of| of == code);
    let codes: Vec<u8> = mapping
        .rows()
        .filter(|(code, row)| *code >= FIRST_SPARE && row.iter().all(nothing) && !modifier(code))
        .map(|(code, _)| code)
        .collect();
    Spare::new(&codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping() -> Mapping {
        let rows: &[[u32; 2]] = &[
            [0, 0],                // 8
            [0x31, 0x21],          // 9: 1 !
            [0x61, 0x41],          // 10: a A
            [0xffe1, 0],           // 11: Shift
            [0, 0],                // 12
            [0xff95, 0xffb7],      // 13: 7 of the keypad
            [0xff13, 0xff6b],      // 14: Pause, Break
            [0xff7f, 0],           // 15: Num Lock
            [0x1008_ff12, 0],      // 16: mute
            [0, 0],                // 17, a modifier
            [0x06c1, 0x0100_0410], // 18: а А, in both ways to write them
            [0x61, 0],             // 19: another a
        ];
        let mut modifiers: [Vec<u8>; 8] = Default::default();
        modifiers[0] = vec![11];
        modifiers[4] = vec![15];
        modifiers[5] = vec![17];
        Mapping {
            first: 8,
            per_keycode: 2,
            keysyms: rows.concat(),
            modifiers,
        }
    }

    #[test]
    fn keys_are_found_plain_first() {
        let layout = Layout::new(&mapping(), &[]);
        let at = |text: &str| {
            layout
                .find(text.parse().unwrap())
                .map(|p| (p.keycode, p.shift, p.keypad))
        };
        assert_eq!(at("1"), Some((9, false, false)));
        assert_eq!(at("!"), Some((9, true, false)));
        assert_eq!(at("a"), Some((10, false, false)));
        assert_eq!(at("A"), Some((10, true, false)));
        assert_eq!(at("num7"), Some((13, true, true)));
        assert_eq!(at("KP_Home"), Some((13, false, true)));
        assert_eq!(at("а"), Some((18, false, false)));
        assert_eq!(at("А"), Some((18, true, false)));
        assert_eq!(at("Break"), None, "Shift does not lead there");
        assert_eq!(at("z"), None);
        assert_eq!(layout.num_lock(), 0x10);
        assert_eq!(layout.modifiers(), [11, 15, 17]);
    }

    #[test]
    fn what_means_nothing_is_spare() {
        let codes = |own| spare(&mapping(), own).keycodes().collect::<Vec<_>>();
        assert_eq!(codes(false), [12]);
        assert_eq!(codes(true), [12, 16]);
    }

    #[test]
    fn codes_of_ours_are_no_part_of_the_layout() {
        let layout = Layout::new(&mapping(), &[18]);
        assert_eq!(layout.find(Key::from_char('а').unwrap()), None);
        assert_eq!(layout.plain(18), None);
    }

    #[test]
    fn a_server_that_says_nonsense_has_no_keys() {
        for per_keycode in [0, 1, 7] {
            let odd = Mapping {
                per_keycode,
                keysyms: vec![0xffff_ffff; 5],
                ..mapping()
            };
            assert!(Layout::new(&odd, &[]).places.is_empty());
        }
    }
}
