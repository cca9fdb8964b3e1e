//! Making a window the active one, until it is true.

use std::time::Instant;

use x11rb::properties::WmHints;
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, InputFocus, StackMode, Time,
};

use super::asking::{BY_USER, PATIENCE, ask, settle};
use super::list::{Windows, active, find, list, no_such, stacked};
use super::wait::Watch;
use super::window::WindowInfo;
use crate::desktop::is_managed;
use crate::error::DesktopError;
use crate::x11::XConnection;

/// How a wait for an active window ended, when it did in time.
enum End {
    Active,
    Gone,
}

impl Windows<'_> {
    /// Makes the window with this title active, shown and on top, and comes back when it is.
    pub fn make_active(&self, title: &str) -> Result<WindowInfo, DesktopError> {
        let watch = Watch::new(self.desktop.line()?)?;
        let x = watch.x();
        let window = find(x, title)?;
        // A window manager gives the focus to a window that has just come, and may be about to: what it
        // has begun is done after the first answer, and what comes of that after the second.
        if is_managed(x)? {
            settle(&watch)?;
            settle(&watch)?;
        }
        request(x, window.id)?;
        let ended = watch.until(Instant::now() + PATIENCE, |x| {
            if active(x)? == Some(window.id) {
                return Ok(Some(End::Active));
            }
            let there = stacked(x)?.contains(&window.id);
            Ok((!there).then_some(End::Gone))
        })?;
        match ended {
            Some(End::Active) => find_again(x, window.id, title),
            Some(End::Gone) => Err(no_such(&list(x)?, title)),
            None if takes_no_input(x, window.id) => Err(DesktopError::Invalid(format!(
                "the window `{}` takes no keyboard input, so it never becomes active",
                window.title
            ))),
            None => Err(DesktopError::Timeout {
                what: format!("making the window `{}` active", window.title),
                within: PATIENCE,
            }),
        }
    }
}

fn request(x: &XConnection, window: u32) -> Result<(), DesktopError> {
    if is_managed(x)? {
        let before = active(x)?.unwrap_or_default();
        let data = [BY_USER, Time::CURRENT_TIME.into(), before, 0, 0];
        return ask(x, window, x.atoms()._NET_ACTIVE_WINDOW, data);
    }
    // A window that is gone by now is seen by who waits for it.
    let top = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
    x.x().configure_window(window, &top)?;
    x.x()
        .set_input_focus(InputFocus::PARENT, window, Time::CURRENT_TIME)?;
    x.sync()
}

/// The window as it is now.
pub(super) fn find_again(
    x: &XConnection,
    id: u32,
    title: &str,
) -> Result<WindowInfo, DesktopError> {
    let windows = list(x)?;
    let found = windows.iter().find(|window| window.id == id).cloned();
    found.ok_or_else(|| no_such(&windows, title))
}

/// Whether the program says that its window does not want the keyboard.
fn takes_no_input(x: &XConnection, window: u32) -> bool {
    let hints = WmHints::get(x.x(), window).map(|asked| asked.reply());
    // Hints that can't be read, or are nonsense, say nothing.
    matches!(
        hints,
        Ok(Ok(Some(WmHints {
            input: Some(false),
            ..
        })))
    )
}
