//! The one record of everything that is pressed through us and not released yet, keys and buttons.
//! Sends presses and releases itself, so that the record and the X server never disagree.

use std::sync::{Mutex, MutexGuard, PoisonError};

use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use crate::error::DesktopError;
use crate::x11::XConnection;

/// What a finger can be on: a keycode or a button of the X server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Physical {
    Key(u8),
    Button(u8),
}

impl Physical {
    /// Sends a press. Nothing is recorded: for strokes that are released by the same call.
    pub(super) fn down(self, x: &XConnection) -> Result<(), DesktopError> {
        match self {
            Self::Key(code) => fake(x, KEY_PRESS_EVENT, code),
            Self::Button(button) => fake(x, BUTTON_PRESS_EVENT, button),
        }
    }

    pub(super) fn up(self, x: &XConnection) -> Result<(), DesktopError> {
        match self {
            Self::Key(code) => fake(x, KEY_RELEASE_EVENT, code),
            Self::Button(button) => fake(x, BUTTON_RELEASE_EVENT, button),
        }
    }
}

fn fake(x: &XConnection, kind: u8, detail: u8) -> Result<(), DesktopError> {
    x.x()
        .xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, x11rb::NONE, 0, 0, 0)?;
    Ok(())
}

#[derive(Debug)]
struct Entry {
    what: Physical,
    /// A Shift that is down only because this key needs it, and goes up with it.
    lent_to: Option<Physical>,
    /// Up for a moment, while text is typed.
    lifted: bool,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which they were pressed.
    entries: Vec<Entry>,
    /// Down for a moment, while text is typed.
    strokes: Vec<Physical>,
    /// Nothing is pressed any more.
    closed: bool,
}

impl State {
    fn check(&self) -> Result<(), DesktopError> {
        if self.closed {
            return Err(DesktopError::Gone("its user was cut off".to_owned()));
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Held {
    state: Mutex<State>,
}

/// Every call leaves its requests in the buffer of the connection: flush it.
impl Held {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Presses and remembers. A second press of the same is sent again, and released once.
    pub(crate) fn press(&self, x: &XConnection, what: Physical) -> Result<(), DesktopError> {
        let mut state = self.lock();
        state.check()?;
        let entries = &mut state.entries;
        match entries.iter_mut().find(|entry| entry.what == what) {
            Some(entry) => entry.lent_to = None,
            None => entries.push(Entry {
                what,
                lent_to: None,
                lifted: false,
            }),
        }
        what.down(x)
    }

    /// Presses `what` for as long as `borrower` is held, unless it is down already.
    pub(super) fn lend(
        &self,
        x: &XConnection,
        what: Physical,
        borrower: Physical,
    ) -> Result<(), DesktopError> {
        let mut state = self.lock();
        state.check()?;
        let entries = &mut state.entries;
        if entries.iter().any(|entry| entry.what == what) {
            return Ok(());
        }
        entries.push(Entry {
            what,
            lent_to: Some(borrower),
            lifted: false,
        });
        what.down(x)
    }

    /// Releases, whether it was pressed through us or not.
    pub(crate) fn release(&self, x: &XConnection, what: Physical) -> Result<(), DesktopError> {
        let entries = &mut self.lock().entries;
        entries.retain(|entry| entry.what != what);
        what.up(x)?;
        let lent = |entry: &mut Entry| entry.lent_to == Some(what);
        for entry in entries.extract_if(.., lent) {
            entry.what.up(x)?;
        }
        Ok(())
    }

    /// Releases everything, the last pressed first.
    pub(crate) fn release_all(&self, x: &XConnection) -> Result<(), DesktopError> {
        let entries = &mut self.lock().entries;
        while let Some(entry) = entries.pop() {
            entry.what.up(x)?;
        }
        Ok(())
    }

    /// Releases everything, what is being typed included, and lets nobody press anything from here on.
    pub(super) fn close(&self, x: &XConnection) -> Result<(), DesktopError> {
        let mut state = self.lock();
        state.closed = true;
        while let Some(stroke) = state.strokes.pop() {
            stroke.up(x)?;
        }
        while let Some(entry) = state.entries.pop() {
            entry.what.up(x)?;
        }
        Ok(())
    }

    /// Presses a key of a text: up again before the text is typed.
    pub(super) fn stroke(&self, x: &XConnection, what: Physical) -> Result<(), DesktopError> {
        let mut state = self.lock();
        state.check()?;
        state.strokes.push(what);
        what.down(x)
    }

    pub(super) fn unstroke(&self, x: &XConnection, what: Physical) -> Result<(), DesktopError> {
        self.lock().strokes.retain(|stroke| *stroke != what);
        what.up(x)
    }

    pub(super) fn buttons(&self) -> Vec<u8> {
        let button = |entry: &Entry| match entry.what {
            Physical::Button(button) => Some(button),
            Physical::Key(_) => None,
        };
        self.lock().entries.iter().filter_map(button).collect()
    }

    pub(super) fn keycodes(&self) -> Vec<u8> {
        let keycode = |entry: &Entry| match entry.what {
            Physical::Key(code) => Some(code),
            Physical::Button(_) => None,
        };
        self.lock().entries.iter().filter_map(keycode).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().entries.is_empty()
    }

    /// Releases the keys of `codes` that are held, without forgetting them.
    pub(super) fn lift(&self, x: &XConnection, codes: &[u8]) -> Result<(), DesktopError> {
        for entry in &mut self.lock().entries {
            if matches!(entry.what, Physical::Key(code) if codes.contains(&code)) {
                entry.lifted = true;
                entry.what.up(x)?;
            }
        }
        Ok(())
    }

    /// Presses what was lifted, but not what has been released in the meantime.
    pub(super) fn put_back(&self, x: &XConnection) -> Result<(), DesktopError> {
        let mut state = self.lock();
        state.check()?;
        for entry in &mut state.entries {
            if std::mem::take(&mut entry.lifted) {
                entry.what.down(x)?;
            }
        }
        Ok(())
    }
}
