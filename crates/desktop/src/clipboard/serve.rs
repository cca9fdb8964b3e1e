//! Answers those who ask for our text: in every kind that it can be had in, long ones in parts.
//! Knows one event after the other, and nothing of threads.

use std::collections::VecDeque;

use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    PropertyNotifyEvent, SelectionNotifyEvent, SelectionRequestEvent, Timestamp, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::error::DesktopError;
use crate::x11::{Atoms, XConnection};

/// What is handed over at once: below what every server takes in one request.
const PART: usize = 128 << 10;

/// Readers of long texts at the same time; the one that has waited longest is given up for another.
const MOST_TRANSFERS: usize = 16;

pub(super) struct Server {
    text: String,
    window: Window,
    since: Timestamp,
    transfers: VecDeque<Transfer>,
}

/// A long text on its way to a reader, who removes a part to get the next.
struct Transfer {
    to: Window,
    property: Atom,
    kind: Atom,
    bytes: Vec<u8>,
    sent: usize,
}

enum Answer {
    Bytes(Vec<u8>),
    Atoms(Vec<Atom>),
    Number(u32),
}

impl Server {
    pub(super) fn new(text: &str, window: Window, since: Timestamp) -> Self {
        Self {
            text: text.to_owned(),
            window,
            since,
            transfers: VecDeque::new(),
        }
    }

    /// Whether nobody is in the middle of a text.
    pub(super) fn is_idle(&self) -> bool {
        self.transfers.is_empty()
    }

    pub(super) fn handle(&mut self, x: &XConnection, event: &Event) -> Result<(), DesktopError> {
        match event {
            Event::SelectionRequest(request) => self.answer(x, request),
            Event::PropertyNotify(change) if change.state == Property::DELETE => {
                self.go_on(x, change)
            }
            // Among them errors about readers that are gone: nobody misses them.
            _ => Ok(()),
        }
    }

    fn answer(
        &mut self,
        x: &XConnection,
        request: &SelectionRequestEvent,
    ) -> Result<(), DesktopError> {
        let atoms = x.atoms();
        let to = request.requestor;
        // Old programs leave the choice of the property to us.
        let property = match request.property {
            x11rb::NONE => request.target,
            property => property,
        };
        let ours = request.selection == atoms.CLIPBOARD && request.owner == self.window;
        let answer = ours
            .then(|| self.converted(request.target, atoms))
            .flatten();
        let done = answer.is_some();
        let mode = PropMode::REPLACE;
        match answer {
            None => {}
            Some(Answer::Atoms(list)) => {
                x.x()
                    .change_property32(mode, to, property, AtomEnum::ATOM, &list)?;
            }
            Some(Answer::Number(number)) => {
                x.x()
                    .change_property32(mode, to, property, AtomEnum::INTEGER, &[number])?;
            }
            Some(Answer::Bytes(bytes)) if bytes.len() <= PART => {
                x.x()
                    .change_property8(mode, to, property, request.target, &bytes)?;
            }
            Some(Answer::Bytes(bytes)) => {
                watch(x, to, EventMask::PROPERTY_CHANGE)?;
                let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                x.x()
                    .change_property32(mode, to, property, atoms.INCR, &[len])?;
                self.begin(Transfer {
                    to,
                    property,
                    kind: request.target,
                    bytes,
                    sent: 0,
                });
            }
        }
        let told = SelectionNotifyEvent {
            response_type: x11rb::protocol::xproto::SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: to,
            selection: request.selection,
            target: request.target,
            property: if done { property } else { x11rb::NONE },
        };
        x.x().send_event(false, to, EventMask::NO_EVENT, told)?;
        Ok(())
    }

    fn converted(&self, target: Atom, atoms: &Atoms) -> Option<Answer> {
        let string = Atom::from(AtomEnum::STRING);
        if target == atoms.TARGETS {
            let texts = [atoms.UTF8_STRING, atoms.TEXT_PLAIN_UTF8, string];
            Some(Answer::Atoms(
                [[atoms.TARGETS, atoms.TIMESTAMP].as_slice(), &texts].concat(),
            ))
        } else if target == atoms.TIMESTAMP {
            Some(Answer::Number(self.since))
        } else if target == atoms.UTF8_STRING || target == atoms.TEXT_PLAIN_UTF8 {
            Some(Answer::Bytes(self.text.clone().into_bytes()))
        } else if target == string {
            let latin1 = self.text.chars().map(|c| u8::try_from(c).unwrap_or(b'?'));
            Some(Answer::Bytes(latin1.collect()))
        } else {
            None
        }
    }

    fn begin(&mut self, transfer: Transfer) {
        // Who asks again starts again.
        self.transfers
            .retain(|other| (other.to, other.property) != (transfer.to, transfer.property));
        if self.transfers.len() >= MOST_TRANSFERS {
            self.transfers.pop_front();
        }
        self.transfers.push_back(transfer);
    }

    /// The reader has taken a part: here is the next, and one without content at the end.
    fn go_on(&mut self, x: &XConnection, change: &PropertyNotifyEvent) -> Result<(), DesktopError> {
        let mut transfers = self.transfers.iter();
        let Some(at) = transfers.position(|t| (t.to, t.property) == (change.window, change.atom))
        else {
            return Ok(());
        };
        let Some(mut transfer) = self.transfers.remove(at) else {
            return Ok(());
        };
        let rest = &transfer.bytes[transfer.sent..];
        let part = &rest[..rest.len().min(PART)];
        let Transfer {
            to, property, kind, ..
        } = transfer;
        x.x()
            .change_property8(PropMode::REPLACE, to, property, kind, part)?;
        if part.is_empty() {
            return watch(x, to, EventMask::NO_EVENT);
        }
        transfer.sent += part.len();
        self.transfers.push_back(transfer);
        Ok(())
    }
}

fn watch(x: &XConnection, window: Window, events: EventMask) -> Result<(), DesktopError> {
    let attributes = ChangeWindowAttributesAux::new().event_mask(events);
    x.x().change_window_attributes(window, &attributes)?;
    Ok(())
}
