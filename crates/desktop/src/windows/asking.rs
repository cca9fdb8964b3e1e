//! How a window manager is asked for something, and how we know that it has done it.

use std::time::{Duration, Instant};

use x11rb::protocol::xproto::{Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask};

use super::wait::Watch;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::x11::XConnection;

/// What a window manager or a program may take for what it is asked.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Says that a user wants it, and no program for itself.
pub(super) const BY_USER: u32 = 2;

/// Names in the list of what a window manager supports.
const MOST_SUPPORTED: u32 = 1024;

/// Asks the window manager for something about a window.
pub(crate) fn ask(
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
    if !supports(x, x.atoms()._NET_REQUEST_FRAME_EXTENTS)? {
        return x.sync();
    }
    let question = Question::new(watch)?;
    if question.is_answered(Instant::now() + PATIENCE)? {
        return Ok(());
    }
    Err(DesktopError::Timeout {
        what: "an answer of the window manager".to_owned(),
        within: PATIENCE,
    })
}

/// Waits until the window manager answers; says whether it does. Openbox says that it is there long
/// before, and forgets what programs ask for in between: their windows would never be shown.
pub(crate) fn answers(address: &DisplayAddress, deadline: Instant) -> Result<bool, DesktopError> {
    let watch = Watch::new(XConnection::open(address)?)?;
    if !supports(watch.x(), watch.x().atoms()._NET_REQUEST_FRAME_EXTENTS)? {
        return Ok(true);
    }
    let question = Question::new(&watch)?;
    let mut patience = FIRST;
    while Instant::now() < deadline {
        if question.is_answered(deadline.min(Instant::now() + patience))? {
            // Some were asked again too soon. The window they are about must not go before they are
            // answered, and answers come in order.
            return Question::new(&watch)?.is_answered(deadline);
        }
        patience = LONGEST.min(patience * 2);
    }
    Ok(false)
}

/// An early question may be lost, and is asked again: soon at first, because a window manager that has
/// said that it is there needs little more.
const FIRST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

/// How wide the frame of a window would be. The window is never shown.
struct Question<'a> {
    watch: &'a Watch,
    window: u32,
}

impl<'a> Question<'a> {
    fn new(watch: &'a Watch) -> Result<Self, DesktopError> {
        let x = watch.x();
        let window = x.unseen_window()?;
        Ok(Self { watch, window })
    }

    /// Asks, and waits for the answer.
    fn is_answered(&self, deadline: Instant) -> Result<bool, DesktopError> {
        let atoms = self.watch.x().atoms();
        ask(
            self.watch.x(),
            self.window,
            atoms._NET_REQUEST_FRAME_EXTENTS,
            [0; 5],
        )?;
        let answer = self.watch.until(deadline, |x| {
            let property = atoms._NET_FRAME_EXTENTS;
            let asked =
                x.x()
                    .get_property(false, self.window, property, AtomEnum::CARDINAL, 0, 4)?;
            Ok(asked.reply()?.value32().map(|_| ()))
        })?;
        Ok(answer.is_some())
    }
}

pub(crate) fn supports(x: &XConnection, what: Atom) -> Result<bool, DesktopError> {
    let property = x.atoms()._NET_SUPPORTED;
    let asked = x
        .x()
        .get_property(false, x.root(), property, AtomEnum::ATOM, 0, MOST_SUPPORTED)?;
    let answer = asked.reply()?;
    Ok(answer
        .value32()
        .is_some_and(|mut known| known.any(|known| known == what)))
}
