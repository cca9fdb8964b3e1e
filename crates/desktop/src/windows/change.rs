//! Windows moved, resized, maximised, minimised, restored and closed: asked of the window manager,
//! and waited for until it has answered.

use std::time::Instant;

use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, Gravity, Time,
};

use super::activate::find_again;
use super::asking::{BY_USER, PATIENCE, ask, settle};
use super::list::{Windows, find, stacked};
use super::wait::Watch;
use super::window::{WindowInfo, known};
use crate::desktop::is_managed;
use crate::error::DesktopError;
use crate::geometry::{LONGEST_SIDE, Point, Size};
use crate::x11::XConnection;

/// What is done with a state of a window.
const REMOVE: u32 = 0;
const ADD: u32 = 1;

/// The minimised state, in the words of ICCCM.
const ICONIC: u32 = 3;

/// Widest side of a frame that is believed.
const WIDEST_FRAME: u32 = 500;

/// Protocols of a window that are looked at.
const MOST_PROTOCOLS: u32 = 64;

impl Windows<'_> {
    /// Moves what the window's program draws on to (x, y). Says where the window is then: window
    /// managers keep windows within reach.
    pub fn move_to(&self, title: &str, x: i32, y: i32) -> Result<WindowInfo, DesktopError> {
        self.place(title, Some(Point { x, y }), None)
    }

    /// Says how large the window is then: programs have sizes that they don't leave, such as whole
    /// lines of text.
    pub fn resize(&self, title: &str, size: Size) -> Result<WindowInfo, DesktopError> {
        self.place(title, None, Some(size))
    }

    pub fn maximise(&self, title: &str) -> Result<WindowInfo, DesktopError> {
        self.change(title, |x, window| {
            let atoms = x.atoms();
            let [wide, high] = [
                atoms._NET_WM_STATE_MAXIMIZED_HORZ,
                atoms._NET_WM_STATE_MAXIMIZED_VERT,
            ];
            ask(
                x,
                window,
                atoms._NET_WM_STATE,
                [ADD, wide, high, BY_USER, 0],
            )
        })
    }

    pub fn minimise(&self, title: &str) -> Result<WindowInfo, DesktopError> {
        self.change(title, |x, window| {
            ask(x, window, x.atoms().WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0])
        })
    }

    /// Neither minimised nor maximised nor on the full screen.
    pub fn restore(&self, title: &str) -> Result<WindowInfo, DesktopError> {
        self.change(title, |x, window| {
            let atoms = x.atoms();
            // The window manager gets to know of it, and shows the window.
            x.x().map_window(window)?;
            let [wide, high, full] = [
                atoms._NET_WM_STATE_MAXIMIZED_HORZ,
                atoms._NET_WM_STATE_MAXIMIZED_VERT,
                atoms._NET_WM_STATE_FULLSCREEN,
            ];
            ask(
                x,
                window,
                atoms._NET_WM_STATE,
                [REMOVE, wide, high, BY_USER, 0],
            )?;
            ask(
                x,
                window,
                atoms._NET_WM_STATE,
                [REMOVE, full, 0, BY_USER, 0],
            )
        })
    }

    /// Closes the window as a user does, and comes back when it is gone.
    pub fn close(&self, title: &str) -> Result<(), DesktopError> {
        let watch = Watch::new(self.desktop.line()?)?;
        let x = watch.x();
        let window = find(x, title)?;
        if is_managed(x)? {
            let data = [Time::CURRENT_TIME.into(), BY_USER, 0, 0, 0];
            ask(x, window.id, x.atoms()._NET_CLOSE_WINDOW, data)?;
        } else {
            delete(x, &window)?;
        }
        let gone = watch.until(Instant::now() + PATIENCE, |x| {
            Ok((!stacked(x)?.contains(&window.id)).then_some(()))
        })?;
        gone.ok_or_else(|| DesktopError::Timeout {
            what: format!(
                "closing the window `{}` (its program may want an answer first)",
                window.title
            ),
            within: PATIENCE,
        })
    }

    fn place(
        &self,
        title: &str,
        to: Option<Point>,
        size: Option<Size>,
    ) -> Result<WindowInfo, DesktopError> {
        check(to, size)?;
        let watch = Watch::new(self.desktop.line()?)?;
        let x = watch.x();
        let window = find(x, title)?;
        if is_managed(x)? {
            // The frame is what is placed: openbox loses count of windows that are placed without.
            let (left, top) = frame(x, window.id)?;
            let given = u32::from(to.is_some()) * 0b0011 + u32::from(size.is_some()) * 0b1100;
            let flags = u32::from(Gravity::NORTH_WEST) | given << 8 | BY_USER << 12;
            let to = to.unwrap_or(Point { x: 0, y: 0 });
            let size = size.unwrap_or(Size::new(0, 0));
            let corner = [to.x.saturating_sub(left), to.y.saturating_sub(top)];
            let [left, top] = corner.map(i32::cast_unsigned);
            let data = [flags, left, top, size.width, size.height];
            ask(x, window.id, x.atoms()._NET_MOVERESIZE_WINDOW, data)?;
            settle(&watch)?;
        } else {
            let change = ConfigureWindowAux {
                x: to.map(|to| to.x),
                y: to.map(|to| to.y),
                width: size.map(|size| size.width),
                height: size.map(|size| size.height),
                ..ConfigureWindowAux::new()
            };
            known(x.x().configure_window(window.id, &change)?.check())?;
        }
        find_again(x, window.id, title)
    }

    fn change(
        &self,
        title: &str,
        request: impl FnOnce(&XConnection, u32) -> Result<(), DesktopError>,
    ) -> Result<WindowInfo, DesktopError> {
        let watch = Watch::new(self.desktop.line()?)?;
        let window = find(watch.x(), title)?;
        if !is_managed(watch.x())? {
            return Err(DesktopError::Unsupported(
                "the display has no window manager, which this needs".to_owned(),
            ));
        }
        request(watch.x(), window.id)?;
        settle(&watch)?;
        find_again(watch.x(), window.id, title)
    }
}

/// How much of the frame lies to the left of a window and above it.
fn frame(x: &XConnection, window: u32) -> Result<(i32, i32), DesktopError> {
    let property = x.atoms()._NET_FRAME_EXTENTS;
    let asked = x
        .x()
        .get_property(false, window, property, AtomEnum::CARDINAL, 0, 4)?;
    let answer = known(asked.reply())?;
    let widths: Vec<u32> = answer
        .iter()
        .filter_map(|extents| extents.value32())
        .flatten()
        .collect();
    // Programs can write it too, so nonsense counts as none.
    let width = |at: usize| {
        let width = widths
            .get(at)
            .copied()
            .filter(|&width| width <= WIDEST_FRAME);
        width.unwrap_or(0).cast_signed()
    };
    // Left, right, top, bottom.
    Ok((width(0), width(2)))
}

/// Within what X and window managers can count.
fn check(to: Option<Point>, size: Option<Size>) -> Result<(), DesktopError> {
    let far = LONGEST_SIDE.cast_signed();
    if let Some(Point { x, y }) = to
        && !((-far..=far).contains(&x) && (-far..=far).contains(&y))
    {
        return Err(DesktopError::Invalid(format!(
            "({x}, {y}) is too far away for a window: use coordinates of the screen"
        )));
    }
    if let Some(size) = size
        && !((1..=LONGEST_SIDE).contains(&size.width) && (1..=LONGEST_SIDE).contains(&size.height))
    {
        return Err(DesktopError::Invalid(format!(
            "{size} is no size for a window: use 1 to {LONGEST_SIDE} pixels"
        )));
    }
    Ok(())
}

/// Asks the program itself to close its window.
fn delete(x: &XConnection, window: &WindowInfo) -> Result<(), DesktopError> {
    let atoms = x.atoms();
    let asked = x.x().get_property(
        false,
        window.id,
        atoms.WM_PROTOCOLS,
        AtomEnum::ATOM,
        0,
        MOST_PROTOCOLS,
    )?;
    let protocols = known(asked.reply())?;
    let listens = protocols.is_none_or(|protocols| {
        let mut protocols = protocols.value32().into_iter().flatten();
        protocols.any(|protocol| protocol == atoms.WM_DELETE_WINDOW)
    });
    if !listens {
        return Err(DesktopError::Unsupported(format!(
            "the program of the window `{}` can't be asked to close it",
            window.title
        )));
    }
    let data = [atoms.WM_DELETE_WINDOW, Time::CURRENT_TIME.into(), 0, 0, 0];
    let event = ClientMessageEvent::new(32, window.id, atoms.WM_PROTOCOLS, data);
    let sent = x
        .x()
        .send_event(false, window.id, EventMask::NO_EVENT, event)?;
    known(sent.check())?;
    Ok(())
}
