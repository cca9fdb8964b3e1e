//! The keyboard of a desktop, for its users. Which code a key has is the business of `board`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask};

use super::board::Board;
use super::held::Physical;
use super::layout::Position;
use super::repeat::Times;
use super::seat::Seat;
use super::typing;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::key::{Key, KeyCombination, Vk};

/// The longest time to hold a key in one call.
const LONGEST_HOLD: Duration = Duration::from_secs(600);

/// How long a key or button is held that is pressed and released: as long as people do. A program that looks at the
/// keyboard once a frame would miss a shorter one.
pub const HOLD: Duration = Duration::from_millis(50);

pub(super) fn check_hold(hold: Duration) -> Result<(), DesktopError> {
    if hold <= LONGEST_HOLD {
        return Ok(());
    }
    Err(DesktopError::Invalid(format!(
        "{} s is too long to hold a key or button: at most {} s",
        hold.as_secs_f64(),
        LONGEST_HOLD.as_secs()
    )))
}

/// What is down on keyboard and mouse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyboardState {
    /// By virtual-key number, the buttons of the mouse among them, as Windows counts them. Shift,
    /// Control and Alt appear twice: as the left or right one and as either.
    pub buttons: BTreeSet<u16>,
    /// By name, with those that have no such number.
    pub keys: Vec<Key>,
}

/// A light handle; all of one desktop share what is held.
#[derive(Debug, Clone, Copy)]
pub struct Keyboard<'a> {
    seat: &'a Seat,
    address: &'a DisplayAddress,
    nobody_sits_there: bool,
}

impl<'a> Keyboard<'a> {
    /// `nobody_sits_there`: the display is ours, with no keyboard of a person behind it.
    pub(crate) fn new(
        seat: &'a Seat,
        address: &'a DisplayAddress,
        nobody_sits_there: bool,
    ) -> Self {
        Self {
            seat,
            address,
            nobody_sits_there,
        }
    }

    /// Presses a key, and Shift with it if the key needs it. It stays down until it is released, or
    /// until the desktop is dropped.
    pub fn press(&self, key: Key) -> Result<(), DesktopError> {
        self.with(&[key], |board, places| {
            for place in places {
                self.down(board, *place)?;
            }
            Ok(())
        })
    }

    /// Releases a key, pressed through us or not.
    pub fn release(&self, key: Key) -> Result<(), DesktopError> {
        self.with(&[], |board, _| {
            // A key without a code was never pressed.
            let Some(place) = board.find(key) else {
                return Ok(());
            };
            let x = self.seat.x();
            let modifies = board.layout().modifiers().contains(&place.keycode);
            let mut follow = || {
                if modifies {
                    board.let_switch(x)
                } else {
                    Ok(())
                }
            };
            // Released whatever becomes of the window manager.
            let followed = follow();
            self.seat.held().release(x, Physical::Key(place.keycode))?;
            followed.and_then(|()| follow())
        })
    }

    /// Presses and releases, with the usual time in between.
    pub fn tap(&self, key: Key) -> Result<(), DesktopError> {
        self.combination(&KeyCombination::from(key))
    }

    /// [`Keyboard::combination_held`] for the usual time, [`HOLD`].
    pub fn combination(&self, combination: &KeyCombination) -> Result<(), DesktopError> {
        self.combination_held(combination, HOLD)
    }

    /// All keys down in their order, held, and up in reverse. With modifiers, comes back when the window
    /// manager has done what they say, so that what follows goes to the window that it chose.
    pub fn combination_held(
        &self,
        combination: &KeyCombination,
        hold: Duration,
    ) -> Result<(), DesktopError> {
        check_hold(hold)?;
        self.with(combination.keys(), |board, places| {
            // A key that is held already stays so.
            let held = self.seat.held().keycodes();
            let is_held = |place: &Position| held.contains(&place.keycode);
            let modifiers = board.layout().modifiers();
            let modified =
                places.len() > 1 && places.iter().any(|key| modifiers.contains(&key.keycode));
            let mut pressed = Ok(());
            for place in places {
                pressed = pressed.and_then(|()| self.down(board, *place));
            }
            if modified {
                pressed = pressed.and_then(|()| board.let_switch(self.seat.x()));
            }
            pressed = pressed.and_then(|()| self.seat.hold(hold));
            for place in places.iter().rev().filter(|place| !is_held(place)) {
                let key = Physical::Key(place.keycode);
                self.seat.held().release(self.seat.x(), key)?;
            }
            if modified {
                board.let_switch(self.seat.x())?;
            }
            pressed
        })
    }

    /// Types a text exactly, whatever keys are held or locked: they are put aside for it. `\n` is
    /// Return, `\t` is Tab; other control characters are refused. Comes back when the X server has
    /// it, which is before the program has drawn it.
    pub fn type_text(&self, text: &str) -> Result<(), DesktopError> {
        typing::check(text)?;
        self.with(&[], |board, _| typing::type_text(self.seat, board, text))
    }

    /// Holds a key for `press_time`, repeating as keyboards do: after `initial_delay`, every
    /// `repeat_delay`. Comes back when it is over.
    pub fn hold(
        &self,
        key: Key,
        press_time: Duration,
        initial_delay: Duration,
        repeat_delay: Duration,
    ) -> Result<(), DesktopError> {
        check_hold(press_time)?;
        let times = Times::new(initial_delay, repeat_delay)?;
        let x = self.seat.x();
        // The board knows that the keyboard extension is there.
        self.with(&[], |_, _| Ok(()))?;
        let _repeating = self.seat.repeat().set(x, times)?;
        self.press(key)?;
        self.seat.hold(press_time)?;
        self.release(key)
    }

    /// Releases every key and button that is held through us.
    pub fn release_all(&self) -> Result<(), DesktopError> {
        self.seat.held().release_all(self.seat.x())?;
        self.seat.x().sync()
    }

    /// What is down now, whoever pressed it.
    pub fn state(&self) -> Result<KeyboardState, DesktopError> {
        self.with(&[], |board, _| {
            let x = self.seat.x();
            let keymap = x.x().query_keymap()?;
            let pointer = x.x().query_pointer(x.root())?;
            let (keymap, pointer) = (keymap.reply()?, pointer.reply()?);
            let down = |code: &u8| keymap.keys[usize::from(code / 8)] & (1 << (code % 8)) != 0;
            let keys: Vec<Key> = (8..=u8::MAX)
                .filter(down)
                .filter_map(|code| self.meaning(board, code).transpose())
                .collect::<Result<_, _>>()?;
            let mut buttons = BTreeSet::new();
            for vk in keys.iter().filter_map(|key| key.vk()) {
                buttons.insert(vk);
                buttons.extend(either_side(vk));
            }
            buttons.extend(mouse_buttons(pointer.mask, &self.seat.held().buttons()));
            Ok(KeyboardState { buttons, keys })
        })
    }

    /// What a keycode is called: of a key of the keypad, what it means now.
    fn meaning(&self, board: &Board, code: u8) -> Result<Option<Key>, DesktopError> {
        let plain = board.plain(code);
        let digit = board
            .layout()
            .shifted(code)
            .filter(|key| key.is_on_keypad());
        match digit {
            Some(digit) if Some(digit) != plain && board.num_lock(self.seat.x())? => {
                Ok(Some(digit))
            }
            _ => Ok(plain),
        }
    }

    fn down(&self, board: &Board, place: Position) -> Result<(), DesktopError> {
        let (x, held) = (self.seat.x(), self.seat.held());
        let key = Physical::Key(place.keycode);
        let shift = place.shift != (place.keypad && board.num_lock(x)?);
        if shift {
            held.lend(x, Physical::Key(board.shift()?), key)?;
        }
        held.press(x, key)
    }

    /// Does something with a keyboard that is up to date and can press `keys`, and sends it off.
    fn with<T>(
        &self,
        keys: &[Key],
        act: impl FnOnce(&mut Board, &[Position]) -> Result<T, DesktopError>,
    ) -> Result<T, DesktopError> {
        let x = self.seat.x();
        let mut guard = self.seat.board();
        let board = match &mut *guard {
            Some(board) => {
                board.refresh(x)?;
                board
            }
            none => none.insert(Board::open(x, self.address, self.nobody_sits_there)?),
        };
        if keys.iter().any(|key| board.find(*key).is_none()) {
            let off_layout = keys.iter().copied();
            let off_layout = off_layout.filter(|key| board.layout().find(*key).is_none());
            board.provide(x, self.seat.held(), &off_layout.collect())?;
        }
        let places: Vec<Position> = keys.iter().filter_map(|key| board.find(*key)).collect();
        let done = act(board, &places);
        // What was released must go even when something else went wrong.
        x.flush()?;
        done
    }
}

/// The number of Shift, Control or Alt whichever side it is on.
fn either_side(vk: u16) -> Option<u16> {
    match vk {
        Vk::LSHIFT | Vk::RSHIFT => Some(Vk::SHIFT),
        Vk::LCONTROL | Vk::RCONTROL => Some(Vk::CONTROL),
        Vk::LMENU | Vk::RMENU => Some(Vk::MENU),
        _ => None,
    }
}

/// X tells of the first five buttons only, two of which are the wheel; of the others we know our own.
fn mouse_buttons(mask: KeyButMask, held: &[u8]) -> impl Iterator<Item = u16> {
    let told = [
        (KeyButMask::BUTTON1, 1, Vk::LBUTTON),
        (KeyButMask::BUTTON2, 2, Vk::MBUTTON),
        (KeyButMask::BUTTON3, 3, Vk::RBUTTON),
        (KeyButMask::from(0_u16), 8, Vk::XBUTTON1),
        (KeyButMask::from(0_u16), 9, Vk::XBUTTON2),
    ];
    told.into_iter()
        .filter(move |(bit, button, _)| {
            u16::from(mask) & u16::from(*bit) != 0 || held.contains(button)
        })
        .map(|(_, _, vk)| vk)
}
