//! Keycodes that mean nothing on a layout, lent to characters that are not on it. Decides which
//! character gets which code; knows nothing of a connection.
//!
//! Programs read the mapping of the keyboard again when they hear of a change, and they may hear of it
//! late: a code that changes its meaning while its presses are still queued comes out wrong. So a code
//! keeps its character as long as there are others; and giving it to another one is a step of its own
//! (`recycle`), before which everything typed must have been taken in.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::layout::Position;
use crate::key::Key;

#[derive(Debug)]
struct Slot {
    keycode: u8,
    shift: bool,
    key: Option<Key>,
    /// When it was last used, in texts.
    used: u64,
}

#[derive(Debug)]
pub(super) struct Spare {
    /// All plain ones before all with Shift, which take two events more.
    slots: Vec<Slot>,
    places: HashMap<Key, usize>,
    now: u64,
}

/// What keycodes are to mean: plain and with Shift.
pub(super) type Meanings = BTreeMap<u8, [u32; 2]>;

impl Spare {
    pub(super) fn new(keycodes: &[u8]) -> Self {
        let slot = |shift| {
            move |keycode: &u8| Slot {
                keycode: *keycode,
                shift,
                key: None,
                used: 0,
            }
        };
        let plain = keycodes.iter().map(slot(false));
        Self {
            slots: plain.chain(keycodes.iter().map(slot(true))).collect(),
            places: HashMap::new(),
            now: 0,
        }
    }

    /// How many characters can have a code at a time.
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn free(&self) -> usize {
        self.slots.len() - self.places.len()
    }

    pub(super) fn find(&self, key: Key) -> Option<Position> {
        let slot = &self.slots[*self.places.get(&key)?];
        Some(Position::plain_or_shift(slot.keycode, slot.shift))
    }

    /// The meaning of one of our codes as we gave it; `None` for a code that is not in use.
    pub(super) fn meaning(&self, keycode: u8) -> Option<[u32; 2]> {
        let of = |shift| {
            let mine = |slot: &&Slot| slot.keycode == keycode && slot.shift == shift;
            self.slots.iter().find(mine).and_then(|slot| slot.key)
        };
        // A code with one meaning only has it twice: an empty second place would let the server
        // invent the capital letter, and make the plain one small.
        let (plain, shift) = (of(false), of(true));
        let first = plain.or(shift)?;
        Some([first, shift.unwrap_or(first)].map(Key::sent_as))
    }

    pub(super) fn keycodes(&self) -> impl Iterator<Item = u8> + '_ {
        let plain = self.slots.iter().filter(|slot| !slot.shift);
        plain.map(|slot| slot.keycode)
    }

    /// Leaves codes alone that somebody else has given a meaning to.
    pub(super) fn forget(&mut self, taken: impl Fn(u8) -> bool) {
        let gone: Vec<u8> = self
            .keycodes()
            .filter(|code| self.meaning(*code).is_none() && taken(*code))
            .collect();
        self.slots.retain(|slot| !gone.contains(&slot.keycode));
        let places = self.slots.iter().enumerate();
        self.places = places
            .filter_map(|(at, slot)| Some((slot.key?, at)))
            .collect();
    }

    /// Notes that `keys` are used now.
    pub(super) fn touch(&mut self, keys: &HashSet<Key>) {
        self.now += 1;
        for key in keys {
            if let Some(at) = self.places.get(key) {
                self.slots[*at].used = self.now;
            }
        }
    }

    /// Takes codes from characters that were not used for longest until `wanted` are free, but not
    /// from those in `keep`, nor codes that are `held` down.
    pub(super) fn recycle(&mut self, wanted: usize, keep: &HashSet<Key>, held: &[u8]) {
        let mut taken: Vec<(u64, Key)> = self
            .slots
            .iter()
            .filter(|slot| !held.contains(&slot.keycode))
            .filter_map(|slot| Some((slot.used, slot.key.filter(|key| !keep.contains(key))?)))
            .collect();
        taken.sort_unstable();
        for (_, key) in taken.into_iter().take(wanted.saturating_sub(self.free())) {
            if let Some(at) = self.places.remove(&key) {
                self.slots[at].key = None;
            }
        }
    }

    /// Gives free codes to `keys`, which have none, as far as there are some; says what changes.
    pub(super) fn assign(&mut self, keys: &[Key]) -> Meanings {
        let free = |(_, slot): &(usize, &mut Slot)| slot.key.is_none();
        let mut changed = Vec::new();
        for (key, (at, slot)) in keys
            .iter()
            .zip(self.slots.iter_mut().enumerate().filter(free))
        {
            slot.key = Some(*key);
            slot.used = self.now;
            self.places.insert(*key, at);
            changed.push(slot.keycode);
        }
        changed
            .into_iter()
            .filter_map(|keycode| Some((keycode, self.meaning(keycode)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        text.chars().filter_map(Key::from_char).collect()
    }

    #[test]
    fn plain_places_are_given_before_those_with_shift() {
        let mut spare = Spare::new(&[93, 97]);
        assert_eq!(spare.capacity(), 4);
        let changes = spare.assign(&keys("äЖ漢"));
        assert_eq!(changes[&93], [0xe4, 0x0100_6f22]);
        assert_eq!(changes[&97], [0x0100_0416; 2]);
        let place = |spare: &Spare, text: &str| {
            let at = spare.find(keys(text)[0]).unwrap();
            (at.keycode, at.shift)
        };
        assert_eq!(place(&spare, "ä"), (93, false));
        assert_eq!(place(&spare, "Ж"), (97, false));
        assert_eq!(place(&spare, "漢"), (93, true));
        assert_eq!(spare.free(), 1);
        let changes = spare.assign(&keys("😀"));
        assert_eq!(
            changes.into_iter().collect::<Vec<_>>(),
            [(97, [0x0100_0416, 0x0101_f600])]
        );
    }

    #[test]
    fn what_was_not_used_for_longest_goes_and_what_is_needed_stays() {
        let mut spare = Spare::new(&[93, 97]);
        spare.assign(&keys("äöüß"));
        spare.touch(&keys("äü").into_iter().collect());
        spare.touch(&keys("ö").into_iter().collect());
        spare.recycle(2, &keys("ß").into_iter().collect(), &[]);
        assert_eq!(spare.free(), 2);
        let found: Vec<bool> = keys("äöüß")
            .iter()
            .map(|key| spare.find(*key).is_some())
            .collect();
        assert_eq!(found, [false, true, false, true]);
        // One place is left empty beside one that is in use.
        let changes = spare.assign(&keys("é"));
        assert_eq!(changes[&93], [0xe9; 2]);
        assert_eq!(spare.meaning(97), Some([0xf6, 0xdf]));
    }

    #[test]
    fn a_code_that_is_down_keeps_its_character() {
        let mut spare = Spare::new(&[93, 97]);
        spare.assign(&keys("äö"));
        spare.recycle(4, &HashSet::new(), &[93]);
        assert!(spare.find(keys("ä")[0]).is_some());
        assert!(spare.find(keys("ö")[0]).is_none());
    }

    #[test]
    fn codes_that_others_took_are_left_to_them() {
        let mut spare = Spare::new(&[93, 97, 103]);
        spare.assign(&keys("äö"));
        spare.forget(|code| code != 97);
        assert_eq!(spare.keycodes().collect::<Vec<_>>(), [93, 97]);
        assert_eq!(spare.find(keys("ö")[0]).unwrap().keycode, 97);
        assert_eq!(spare.free(), 2);
    }

    #[test]
    fn there_is_no_more_than_there_is() {
        let mut spare = Spare::new(&[93]);
        assert_eq!(spare.assign(&keys("äöü")).len(), 1);
        assert_eq!(spare.free(), 0);
        assert_eq!(spare.find(keys("ü")[0]), None);
        assert_eq!(Spare::new(&[]).capacity(), 0);
    }
}
