//! Which keys and buttons are down and where the pointer is, at an interval.

use std::time::Instant;

use x11rb::protocol::xinput::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;

use super::event::{Event, KeyboardStateEvent, MouseStateEvent};
use super::keymap::Keymap;
use super::listener::ListenConfig;
use super::tick::Ticks;
use crate::error::DesktopError;
use crate::key::Key;
use crate::monotonic::monotonic;
use crate::x11::XConnection;

/// The pointer that every server has.
const POINTER: u16 = 2;

/// Those of the wheel are not held.
const BUTTONS: [u8; 5] = [1, 2, 3, 8, 9];

#[derive(Debug)]
pub(super) struct States {
    keyboard: Option<Ticks>,
    mouse: Option<Ticks>,
}

impl States {
    /// The first of each is told at once.
    pub(super) fn new(config: &ListenConfig) -> Result<Self, DesktopError> {
        Ok(Self {
            keyboard: config.keyboard_state.map(Ticks::from_now).transpose()?,
            mouse: config.mouse_state.map(Ticks::from_now).transpose()?,
        })
    }

    pub(super) fn due(&self) -> Option<Instant> {
        let both = [&self.keyboard, &self.mouse];
        both.into_iter().flatten().map(Ticks::due).min()
    }

    pub(super) fn read(
        &mut self,
        x: &XConnection,
        keymap: Option<&Keymap>,
        events: &mut Vec<Event>,
    ) -> Result<(), DesktopError> {
        let now = Instant::now();
        let is_due = |ticks: &mut Option<Ticks>| ticks.as_mut().and_then(|t| t.take(now)).is_some();
        if let Some(keymap) = keymap.filter(|_| is_due(&mut self.keyboard)) {
            events.push(Event::KeyboardState(keyboard(x, keymap)?));
        }
        if is_due(&mut self.mouse) {
            events.push(Event::MouseState(mouse(x)?));
        }
        Ok(())
    }
}

fn keyboard(x: &XConnection, keymap: &Keymap) -> Result<KeyboardStateEvent, DesktopError> {
    let down = x.x().query_keymap()?.reply()?.keys;
    let is_down = |code: &u8| down[usize::from(code / 8)] & (1 << (code % 8)) != 0;
    let keys: Vec<Key> = (0..=u8::MAX)
        .filter(is_down)
        .filter_map(|code| keymap.key(code))
        .collect();
    let mut vks: Vec<u16> = keys.iter().filter_map(|key| key.vk()).collect();
    vks.sort_unstable();
    vks.dedup();
    Ok(KeyboardStateEvent {
        t: monotonic(),
        keys: keys.iter().map(|key| key.name().into_owned()).collect(),
        vks,
    })
}

fn mouse(x: &XConnection) -> Result<MouseStateEvent, DesktopError> {
    let pointer = x.x().xinput_xi_query_pointer(x.root(), POINTER)?.reply()?;
    let down = pointer.buttons.first().copied().unwrap_or_default();
    let is_down = |button: &u8| down & (1 << button) != 0;
    Ok(MouseStateEvent {
        t: monotonic(),
        // Numbers of 16 bits, a point and 16 bits more.
        x: pointer.root_x >> 16,
        y: pointer.root_y >> 16,
        buttons: BUTTONS.into_iter().filter(is_down).collect(),
    })
}
