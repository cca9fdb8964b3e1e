//! Waits until the window manager has taken in the keys that were pressed.
//!
//! A combination that is its own (`alt+Tab`) is given to it only until the key goes up; what it does
//! then (it grabs the keyboard and waits for Alt to go up) comes too late when Alt is up already, and
//! its switcher stays open and swallows what is typed next. So it is asked for something that it always
//! answers, in the order of its events: the answer is a proof that it has done what the keys say. Knows
//! nothing of which keys these are.

use std::time::{Duration, Instant};

use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Property, Window};

use super::settle::Settler;
use crate::error::DesktopError;
use crate::windows::{ask, supports};

/// How long it may take for an answer: a machine may be busy, and one that hangs is asked only once.
const ANSWER: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct WindowManager {
    /// What it is asked about. Never shown.
    window: Option<Window>,
    /// It has not answered the last question yet.
    owes: bool,
}

impl WindowManager {
    /// Everything that was pressed must have reached the server. One that does not know the question,
    /// or still owes an answer, is not waited for.
    pub(super) fn follow(&mut self, settler: &mut Settler) -> Result<(), DesktopError> {
        let atoms = settler.watch().atoms();
        let (question, answer) = (atoms._NET_REQUEST_FRAME_EXTENTS, atoms._NET_FRAME_EXTENTS);
        if !supports(settler.watch(), question)? {
            return Ok(());
        }
        let window = match self.window {
            Some(window) => window,
            None => *self.window.insert(settler.watch().unseen_window()?),
        };
        let x = settler.watch().x();
        let kind = AtomEnum::CARDINAL;
        let Ok(last) = x.get_property(true, window, answer, kind, 0, 4)?.reply() else {
            // Any program may destroy it.
            *self = Self::default();
            return Ok(());
        };
        if self.owes && last.type_ == x11rb::NONE {
            return Ok(());
        }
        // The last answer is no answer to this question.
        settler.forget_events()?;
        ask(settler.watch(), window, question, [0; 5])?;
        let answered = settler.wait_for(Instant::now() + ANSWER, |event| {
            matches!(event, Event::PropertyNotify(changed) if changed.window == window
                && changed.atom == answer && changed.state == Property::NEW_VALUE)
        })?;
        self.owes = !answered;
        Ok(())
    }
}
