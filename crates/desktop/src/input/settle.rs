//! Waits until the program with the focus has taken in everything that was typed.
//!
//! Programs that answer pings (`_NET_WM_PING`: GTK, Qt, SDL, browsers) do so in the order of their
//! events, so the answer is a proof. Others (Xt, such as xterm) are asked to draw a pixel of their
//! window again, which they do in that order too, and are then watched until they have drawn nothing
//! for a while. A program that neither answers nor draws is waited for `DRAWING` and no longer: there
//! is no way to tell that it is behind.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, ReportLevel};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EXPOSE_EVENT,
    EventMask, ExposeEvent, InputFocus, MapState, Window,
};

use crate::error::DesktopError;
use crate::x11::{XConnection, ready};

/// How long a program may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// A program that has drawn nothing for so long, after it drew what it was asked to, is done.
const QUIET: Duration = Duration::from_millis(60);

/// Programs that draw nothing, or all the time, are not waited for any longer.
const DRAWING: Duration = Duration::from_secs(5);

/// Windows between the one with the focus and the root.
const DEEPEST: usize = 16;

/// Protocols of a window that are looked at.
const MOST_PROTOCOLS: u32 = 64;

/// Windows of a program that are looked at.
const MOST_WINDOWS: usize = 64;

/// Events that are passed over at a time.
const MOST_EVENTS: usize = 10_000;

/// How the program was found to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// It said so, or there is none.
    Sure,
    /// It answers no pings.
    Unknown,
}

/// A connection for events that are nobody else's.
#[derive(Debug)]
pub(super) struct Settler {
    watch: XConnection,
    pings: u32,
    /// The keyboard has another layout than when somebody asked last.
    changed: bool,
}

impl Settler {
    pub(super) fn new(watch: XConnection) -> Self {
        Self {
            watch,
            pings: 0,
            changed: false,
        }
    }

    /// Whether the keyboard got another layout, by us or by somebody else, since this was asked.
    pub(super) fn mapping_changed(&mut self) -> Result<bool, DesktopError> {
        self.forget_events()?;
        Ok(std::mem::take(&mut self.changed))
    }

    pub(super) const fn watch(&self) -> &XConnection {
        &self.watch
    }

    pub(super) fn forget_events(&mut self) -> Result<(), DesktopError> {
        // Not for ever: others may cause events as fast as they are read.
        for _ in 0..MOST_EVENTS {
            if self.next()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Event>, DesktopError> {
        let event = self.watch.x().poll_for_event()?;
        self.changed |= matches!(event, Some(Event::MappingNotify(_)));
        Ok(event)
    }

    /// Asks the program for an answer; `input` must be synchronised, so that the question comes last.
    pub(super) fn ping(&mut self) -> Result<Settled, DesktopError> {
        let Some(focus) = self.focus()? else {
            return Ok(Settled::Sure);
        };
        let Some(window) = self.answering(focus)? else {
            return Ok(Settled::Unknown);
        };
        self.pings = self.pings.wrapping_add(1);
        let (root, protocols) = (self.watch.root(), self.watch.atoms().WM_PROTOCOLS);
        let data = [self.watch.atoms()._NET_WM_PING, self.pings, window, 0, 0];
        let question = ClientMessageEvent::new(32, window, protocols, data);
        self.select(EventMask::SUBSTRUCTURE_NOTIFY)?;
        let x = self.watch.x();
        x.send_event(false, window, EventMask::NO_EVENT, question)?;
        self.watch.flush()?;
        let deadline = Instant::now() + ANSWER;
        let answered = self.wait_for(deadline, |event| {
            matches!(event, Event::ClientMessage(answer)
                if answer.window == root && answer.format == 32
                    && answer.type_ == protocols && answer.data.as_data32()[..3] == data[..3])
        });
        self.select(EventMask::NO_EVENT)?;
        self.watch.flush()?;
        // A window that was closed in the meantime answers nothing, and takes nothing wrong either.
        if answered?
            || self
                .watch
                .x()
                .get_window_attributes(window)?
                .reply()
                .is_err()
        {
            return Ok(Settled::Sure);
        }
        Err(DesktopError::Invalid(format!(
            "the window with the focus has not taken in what was typed for {} s: it hangs or is busy",
            ANSWER.as_secs()
        )))
    }

    /// As `ping`, and where that is not answered, waits until the program has drawn all it has to.
    pub(super) fn settle(&mut self) -> Result<(), DesktopError> {
        if self.ping()? == Settled::Sure {
            return Ok(());
        }
        let Some((window, x, y)) = self.drawn_by_focus()? else {
            return Ok(());
        };
        let server = self.watch.x();
        server.damage_query_version(1, 1)?.reply()?;
        let damage = server.generate_id()?;
        server.damage_create(damage, window, ReportLevel::RAW_RECTANGLES)?;
        // The server begins with a report of the whole window.
        self.watch.sync()?;
        self.forget_events()?;
        let exposed = ExposeEvent {
            response_type: EXPOSE_EVENT,
            window,
            x,
            y,
            width: 1,
            height: 1,
            ..ExposeEvent::default()
        };
        let server = self.watch.x();
        server.send_event(false, window, EventMask::EXPOSURE, exposed)?;
        self.watch.flush()?;
        let end = Instant::now() + DRAWING;
        let asked_for = |event: &Event| {
            matches!(event, Event::DamageNotify(drawn) if drawn.damage == damage
                && holds(drawn.area.x, drawn.area.width, x) && holds(drawn.area.y, drawn.area.height, y))
        };
        if self.wait_for(end, asked_for)? {
            let drawn = |event: &Event| matches!(event, Event::DamageNotify(_));
            while self.wait_for(end.min(Instant::now() + QUIET), drawn)? {}
        }
        self.watch.x().damage_destroy(damage)?;
        // A window that is gone takes nothing in any more.
        self.watch.sync()
    }

    /// The largest window that the program with the focus draws itself, and a point in it.
    fn drawn_by_focus(&self) -> Result<Option<(Window, u16, u16)>, DesktopError> {
        let x = self.watch.x();
        let mut found: Option<(u32, Window, u16, u16)> = None;
        let mut rest: VecDeque<Window> = self.focus()?.into_iter().collect();
        for _ in 0..MOST_WINDOWS {
            let Some(window) = rest.pop_front() else {
                break;
            };
            let (attributes, geometry) =
                (x.get_window_attributes(window)?, x.get_geometry(window)?);
            let tree = x.query_tree(window)?;
            let all = (attributes.reply(), geometry.reply(), tree.reply());
            let (Ok(attributes), Ok(geometry), Ok(tree)) = all else {
                continue;
            };
            rest.extend(tree.children);
            rest.truncate(MOST_WINDOWS);
            let draws = attributes.map_state == MapState::VIEWABLE
                && attributes.all_event_masks.contains(EventMask::EXPOSURE);
            let (width, height) = (geometry.width, geometry.height);
            let area = u32::from(width) * u32::from(height);
            if draws && area > 0 && found.is_none_or(|(largest, ..)| area > largest) {
                found = Some((area, window, width - width / 8 - 1, height - height / 8 - 1));
            }
        }
        Ok(found.map(|(_, window, x, y)| (window, x, y)))
    }

    fn select(&self, mask: EventMask) -> Result<(), DesktopError> {
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        let (x, root) = (self.watch.x(), self.watch.root());
        x.change_window_attributes(root, &attributes)?;
        Ok(())
    }

    /// The window that keys go to.
    fn focus(&self) -> Result<Option<Window>, DesktopError> {
        let (x, root) = (self.watch.x(), self.watch.root());
        let focus = x.get_input_focus()?.reply()?.focus;
        if focus == u32::from(InputFocus::NONE) {
            return Ok(None);
        }
        if focus == u32::from(InputFocus::POINTER_ROOT) || focus == root {
            let under = x.query_pointer(root)?.reply()?.child;
            return Ok(Some(under).filter(|window| *window != x11rb::NONE));
        }
        Ok(Some(focus))
    }

    /// The window, or the one around it, that answers pings.
    fn answering(&self, focus: Window) -> Result<Option<Window>, DesktopError> {
        let (x, atoms) = (self.watch.x(), self.watch.atoms());
        let mut window = focus;
        for _ in 0..DEEPEST {
            let kind = AtomEnum::ATOM;
            let asked =
                x.get_property(false, window, atoms.WM_PROTOCOLS, kind, 0, MOST_PROTOCOLS)?;
            let tree = x.query_tree(window)?;
            // A window that is gone belongs to nobody.
            let (Ok(protocols), Ok(tree)) = (asked.reply(), tree.reply()) else {
                return Ok(None);
            };
            let answers = protocols
                .value32()
                .is_some_and(|mut known| known.any(|atom| atom == atoms._NET_WM_PING));
            if answers {
                return Ok(Some(window));
            }
            if tree.parent == x11rb::NONE || tree.parent == tree.root {
                return Ok(None);
            }
            window = tree.parent;
        }
        Ok(None)
    }

    pub(super) fn wait_for(
        &mut self,
        deadline: Instant,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<bool, DesktopError> {
        loop {
            while let Some(event) = self.next()? {
                if wanted(&event) {
                    return Ok(true);
                }
                if Instant::now() > deadline {
                    return Ok(false);
                }
            }
            let readable = ready(self.watch.x().stream().as_fd(), PollFlags::IN, deadline);
            if !readable.map_err(DesktopError::io("can't wait for the X server"))? {
                return Ok(false);
            }
        }
    }
}

/// Whether a side of a rectangle reaches over a place.
fn holds(from: i16, length: u16, place: u16) -> bool {
    let (from, place) = (i32::from(from), i32::from(place));
    (from..from + i32::from(length)).contains(&place)
}
