//! The keyboard as we know it: its layout, the codes lent to other characters, and whether both still
//! hold. The only file that changes the mapping of an X server.

use std::collections::HashSet;

use x11rb::connection::Connection;
use x11rb::protocol::xkb::{ConnectionExt as _, Group};
use x11rb::protocol::xproto::{ConnectionExt as _, ModMask};

use super::held::Held;
use super::layout::{Layout, Mapping, Position, spare};
use super::settle::Settler;
use super::spare::{Meanings, Spare};
use super::window_manager::WindowManager;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::key::Key;
use crate::x11::XConnection;

/// The keyboard that programs listen to (`XkbUseCoreKbd`).
pub(super) const KEYBOARD: u16 = 0x0100;

#[derive(Debug)]
pub(super) struct Board {
    layout: Layout,
    spare: Spare,
    settler: Settler,
    window_manager: WindowManager,
    /// Nobody misses its media keys, nor the codes that we changed.
    nobody_sits_there: bool,
}

/// Locks that change what keys type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Locks {
    modifiers: ModMask,
    group: Group,
}

impl Board {
    pub(super) fn open(
        x: &XConnection,
        address: &DisplayAddress,
        nobody_sits_there: bool,
    ) -> Result<Self, DesktopError> {
        // Before the mapping is read, so that no change of it goes unheard.
        let settler = Settler::new(XConnection::open(address)?);
        let xkb = x.x().xkb_use_extension(1, 0)?.reply()?;
        if !xkb.supported {
            return Err(DesktopError::Unsupported(
                "the X server has no keyboard extension (XKB)".to_owned(),
            ));
        }
        let mapping = read(x)?;
        let spare = spare(&mapping, nobody_sits_there);
        let ours: Vec<u8> = spare.keycodes().collect();
        Ok(Self {
            layout: Layout::new(&mapping, &ours),
            spare,
            settler,
            window_manager: WindowManager::default(),
            nobody_sits_there,
        })
    }

    /// Reads the layout again if somebody changed it.
    pub(super) fn refresh(&mut self, x: &XConnection) -> Result<(), DesktopError> {
        if !self.settler.mapping_changed()? {
            return Ok(());
        }
        let mapping = read(x)?;
        let kept = self.spare.keycodes().all(|code| {
            let meant = self.spare.meaning(code);
            meant.is_none_or(|meant| mapping.meaning(code) == Some(meant))
        });
        let now = spare(&mapping, self.nobody_sits_there);
        if kept {
            let free: Vec<u8> = now.keycodes().collect();
            self.spare.forget(|code| !free.contains(&code));
        } else {
            // Another layout was set, and took our codes with it.
            self.spare = now;
        }
        let ours: Vec<u8> = self.spare.keycodes().collect();
        self.layout = Layout::new(&mapping, &ours);
        Ok(())
    }

    pub(super) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many characters that are not on the layout can be typed at a time.
    pub(super) fn capacity(&self) -> usize {
        self.spare.capacity()
    }

    pub(super) fn find(&self, key: Key) -> Option<Position> {
        self.layout.find(key).or_else(|| self.spare.find(key))
    }

    /// The key that a keycode is, for those who look at the keyboard.
    pub(super) fn plain(&self, keycode: u8) -> Option<Key> {
        self.layout.plain(keycode).or_else(|| {
            let [plain, _] = self.spare.meaning(keycode)?;
            Key::from_keysym(plain)
        })
    }

    pub(super) fn shift(&self) -> Result<u8, DesktopError> {
        self.layout
            .find(Key::Shift)
            .map(|shift| shift.keycode)
            .ok_or_else(|| DesktopError::Unsupported("the keyboard has no Shift key".to_owned()))
    }

    /// Sees to it that all `keys` can be pressed: at most `capacity` of them may be off the layout.
    pub(super) fn provide(
        &mut self,
        x: &XConnection,
        held: &Held,
        keys: &HashSet<Key>,
    ) -> Result<(), DesktopError> {
        self.spare.touch(keys);
        let mut missing: Vec<Key> = keys
            .iter()
            .copied()
            .filter(|key| self.find(*key).is_none())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort_unstable();
        if missing.len() > self.spare.free() {
            x.sync()?;
            self.settler.settle()?;
            self.spare.recycle(missing.len(), keys, &held.keycodes());
        }
        if let Some(one) = missing.get(self.spare.free()) {
            return Err(DesktopError::Unsupported(format!(
                "the keyboard has no free codes to type {one} with"
            )));
        }
        change(x, &self.spare.assign(&missing))
    }

    /// Waits until the program with the focus is not far behind, if it is one that can be asked.
    pub(super) fn keep_pace(&mut self, x: &XConnection) -> Result<(), DesktopError> {
        x.sync()?;
        self.settler.ping().map(|_| ())
    }

    /// Waits until the window manager has done what the keys pressed so far say, if they are its own.
    pub(super) fn let_switch(&mut self, x: &XConnection) -> Result<(), DesktopError> {
        x.sync()?;
        self.window_manager.follow(&mut self.settler)
    }

    /// Whether Num Lock is on.
    pub(super) fn num_lock(&self, x: &XConnection) -> Result<bool, DesktopError> {
        let state = x.x().xkb_get_state(KEYBOARD)?.reply()?;
        Ok(u16::from(state.locked_mods) & u16::from(self.layout.num_lock()) != 0)
    }

    /// Turns off Caps Lock and other groups than the first; says what to turn on again.
    pub(super) fn unlock(&self, x: &XConnection) -> Result<Option<Locks>, DesktopError> {
        let state = x.x().xkb_get_state(KEYBOARD)?.reply()?;
        let locks = Locks {
            modifiers: ModMask::from(u16::from(state.locked_mods) & u16::from(ModMask::LOCK)),
            group: state.locked_group,
        };
        if u16::from(locks.modifiers) == 0 && locks.group == Group::M1 {
            return Ok(None);
        }
        let off = Locks {
            modifiers: ModMask::from(0_u16),
            group: Group::M1,
        };
        self.lock(x, off)?;
        Ok(Some(locks))
    }

    pub(super) fn lock(&self, x: &XConnection, locks: Locks) -> Result<(), DesktopError> {
        let none = ModMask::from(0_u16);
        x.x().xkb_latch_lock_state(
            KEYBOARD,
            ModMask::LOCK,
            locks.modifiers,
            true,
            locks.group,
            none,
            false,
            0,
        )?;
        Ok(())
    }

    /// Gives back the codes of a keyboard that somebody sits at; says whether there were some.
    pub(super) fn restore(&mut self, x: &XConnection) -> bool {
        if self.lent().is_empty() {
            return false;
        }
        // A program that is behind would else take what was typed last for nothing.
        let settled = x.sync().and_then(|()| self.settler.settle());
        settled.is_ok() && self.give_back(x)
    }

    /// The same at once, whatever was typed last.
    pub(super) fn give_back(&self, x: &XConnection) -> bool {
        let lent = self.lent();
        !lent.is_empty() && change(x, &lent).is_ok()
    }

    /// Codes that have to be given back, with what they meant before.
    fn lent(&self) -> Meanings {
        if self.nobody_sits_there {
            return Meanings::new();
        }
        let codes = self.spare.keycodes();
        codes
            .filter(|code| self.spare.meaning(*code).is_some())
            .map(|code| (code, [0; 2]))
            .collect()
    }
}

fn read(x: &XConnection) -> Result<Mapping, DesktopError> {
    let setup = x.x().setup();
    let (first, last) = (setup.min_keycode, setup.max_keycode);
    let keys = x
        .x()
        .get_keyboard_mapping(first, last.saturating_sub(first).saturating_add(1))?;
    let modifiers = x.x().get_modifier_mapping()?;
    let (keys, modifiers) = (keys.reply()?, modifiers.reply()?);
    let per_modifier = usize::from(modifiers.keycodes_per_modifier()).max(1);
    let mut codes: [Vec<u8>; 8] = Default::default();
    for (all, row) in codes
        .iter_mut()
        .zip(modifiers.keycodes.chunks(per_modifier))
    {
        all.extend(row.iter().filter(|code| **code != 0));
    }
    Ok(Mapping {
        first,
        per_keycode: keys.keysyms_per_keycode.into(),
        keysyms: keys.keysyms,
        modifiers: codes,
    })
}

/// One request for every row of neighbours: the codes between them are nothing of ours.
fn change(x: &XConnection, meanings: &Meanings) -> Result<(), DesktopError> {
    let mut codes: Vec<u8> = meanings.keys().copied().collect();
    while let Some(&first) = codes.first() {
        let neighbours = (first..=u8::MAX)
            .zip(&codes)
            .take_while(|(at, code)| at == *code);
        let count = neighbours.count();
        let row: Vec<u8> = codes.drain(..count).collect();
        let keysyms: Vec<u32> = row.iter().flat_map(|code| meanings[code]).collect();
        x.x()
            .change_keyboard_mapping(count as u8, first, 2, &keysyms)?;
    }
    Ok(())
}
