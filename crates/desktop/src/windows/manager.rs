//! How a window manager is asked for something, and how we know that it has done it.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, WindowClass,
};

use super::wait::Watch;
use crate::error::DesktopError;
use crate::x11::XConnection;

/// What a window manager or a program may take for what it is asked.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Says that a user wants it, and no program for itself.
pub(super) const BY_USER: u32 = 2;

/// Names in the list of what a window manager supports.
const MOST_SUPPORTED: u32 = 1024;

/// Asks the window manager for something about a window.
pub(super) fn ask(
    x: &XConnection,
    window: u32,
    what: Atom,
    data: [u32; 5],
) -> Result<(), DesktopError> {
    let event = ClientMessageEvent::new(32, window, what, data);
    let to = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    x.x().send_event(false, x.root(), to, event)?.check()?;
    Ok(())
}

/// Comes back when the window manager has done all that it was asked for on this connection: it is
/// asked for something that it always answers, and answers come in order. One that does not know
/// this question is not waited for.
pub(super) fn settle(watch: &Watch) -> Result<(), DesktopError> {
    let x = watch.x();
    let (server, atoms) = (x.x(), x.atoms());
    if !supports(x, atoms._NET_REQUEST_FRAME_EXTENTS)? {
        return x.sync();
    }
    let window = server.generate_id()?;
    let attributes = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    let class = WindowClass::INPUT_OUTPUT;
    server.create_window(0, window, x.root(), 0, 0, 1, 1, 0, class, 0, &attributes)?;
    ask(x, window, atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
    let answered = watch.until(Instant::now() + PATIENCE, |x| {
        let property = atoms._NET_FRAME_EXTENTS;
        let asked = x
            .x()
            .get_property(false, window, property, AtomEnum::CARDINAL, 0, 4)?;
        Ok(asked.reply()?.value32().map(|_| ()))
    })?;
    server.destroy_window(window)?.check()?;
    answered.ok_or_else(|| DesktopError::Timeout {
        what: "an answer of the window manager".to_owned(),
        within: PATIENCE,
    })
}

fn supports(x: &XConnection, what: Atom) -> Result<bool, DesktopError> {
    let property = x.atoms()._NET_SUPPORTED;
    let asked = x
        .x()
        .get_property(false, x.root(), property, AtomEnum::ATOM, 0, MOST_SUPPORTED)?;
    let answer = asked.reply()?;
    Ok(answer
        .value32()
        .is_some_and(|mut known| known.any(|known| known == what)))
}
