//! Asks the owner of the clipboard for its text. The owner is a hostile program: it has a deadline,
//! and sends no more than we want.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, GetPropertyReply,
    Property, Time, Window,
};

use super::offer::{MOST_BYTES, too_long};
use crate::error::DesktopError;
use crate::x11::{XConnection, ready};

/// What the owner of the clipboard may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is read at once, in units of four bytes: one more than is kept, so that too much is seen.
const MOST_UNITS: u32 = (MOST_BYTES / 4 + 1) as u32;

pub(super) fn fetch(x: XConnection) -> Result<String, DesktopError> {
    let mail = Mailbox::new(x)?;
    let (server, atoms) = (mail.x.x(), mail.x.atoms());
    let owner = server.get_selection_owner(atoms.CLIPBOARD)?.reply()?.owner;
    if owner == x11rb::NONE {
        return Ok(String::new());
    }
    // Whoever goes away answers nothing any more.
    let end = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
    server.change_window_attributes(owner, &end)?;
    for kind in [atoms.UTF8_STRING, atoms.TEXT_PLAIN_UTF8] {
        if let Some(bytes) = mail.convert(kind)? {
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    match mail.convert(AtomEnum::STRING.into())? {
        Some(latin1) => Ok(latin1.into_iter().map(char::from).collect()),
        // The owner went away, and its text with it.
        None if server.get_selection_owner(atoms.CLIPBOARD)?.reply()?.owner == x11rb::NONE => {
            Ok(String::new())
        }
        None => Err(DesktopError::Invalid(
            "the clipboard holds something that is no text".to_owned(),
        )),
    }
}

/// A window whose property the owner writes into, on a connection of its own.
struct Mailbox {
    x: XConnection,
    window: Window,
    deadline: Instant,
}

impl Mailbox {
    fn new(x: XConnection) -> Result<Self, DesktopError> {
        let deadline = Instant::now() + PATIENCE;
        let window = x.unseen_window()?;
        Ok(Self {
            x,
            window,
            deadline,
        })
    }

    /// The clipboard as `kind`; `None` when its owner does not have it so, or goes away.
    fn convert(&self, kind: Atom) -> Result<Option<Vec<u8>>, DesktopError> {
        let atoms = self.x.atoms();
        self.x
            .x()
            .delete_property(self.window, atoms.AGON_TRANSFER)?;
        self.x.x().convert_selection(
            self.window,
            atoms.CLIPBOARD,
            kind,
            atoms.AGON_TRANSFER,
            Time::CURRENT_TIME,
        )?;
        let property = self.wait(|event| match event {
            Event::SelectionNotify(answer) if answer.target == kind => Some(answer.property),
            _ => None,
        })?;
        if matches!(property, None | Some(x11rb::NONE)) {
            return Ok(None);
        }
        // Changes from here on are the parts of a long text; reading the announcement asks for the
        // first.
        let announced = self.take()?;
        if announced.type_ != atoms.INCR {
            return whole(announced).map(Some);
        }
        let mut bytes = Vec::new();
        loop {
            let next = self.wait(|event| match event {
                Event::PropertyNotify(change)
                    if change.atom == atoms.AGON_TRANSFER
                        && change.state == Property::NEW_VALUE =>
                {
                    Some(())
                }
                _ => None,
            })?;
            if next.is_none() {
                return Ok(None);
            }
            let part = self.take()?;
            // A change that was told before the announcement was taken.
            if part.type_ == x11rb::NONE {
                continue;
            }
            if part.value.is_empty() {
                return Ok(Some(bytes));
            }
            bytes.extend(whole(part)?);
            if bytes.len() > MOST_BYTES {
                return Err(too_long());
            }
        }
    }

    /// Reads and removes what was delivered.
    fn take(&self) -> Result<GetPropertyReply, DesktopError> {
        let transfer = self.x.atoms().AGON_TRANSFER;
        let asked =
            self.x
                .x()
                .get_property(true, self.window, transfer, AtomEnum::ANY, 0, MOST_UNITS)?;
        Ok(asked.reply()?)
    }

    /// `None` when the owner goes away before.
    fn wait<T>(&self, wanted: impl Fn(Event) -> Option<T>) -> Result<Option<T>, DesktopError> {
        let late = || DesktopError::Timeout {
            what: "an answer of the program that owns the clipboard".to_owned(),
            within: PATIENCE,
        };
        self.x.flush()?;
        loop {
            if Instant::now() >= self.deadline {
                return Err(late());
            }
            if let Some(event) = self.x.x().poll_for_event()? {
                if matches!(event, Event::DestroyNotify(_)) {
                    return Ok(None);
                }
                if let Some(found) = wanted(event) {
                    return Ok(Some(found));
                }
                continue;
            }
            let readable = ready(self.x.x().stream().as_fd(), PollFlags::IN, self.deadline);
            if !readable.map_err(DesktopError::io("can't wait for the X server"))? {
                return Err(late());
            }
        }
    }
}

fn whole(property: GetPropertyReply) -> Result<Vec<u8>, DesktopError> {
    if property.bytes_after > 0 || property.value.len() > MOST_BYTES {
        return Err(too_long());
    }
    if property.format != 8 && !property.value.is_empty() {
        return Err(DesktopError::Invalid(
            "the clipboard holds something that is no text".to_owned(),
        ));
    }
    Ok(property.value)
}
