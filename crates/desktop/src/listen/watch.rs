//! A connection that is listened on: what was selected, what came in, in order, with its time. Every
//! listener has one of its own, so that nobody takes another's events.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use x11rb::connection::{Connection, SequenceNumber};
use x11rb::protocol::Event as XEvent;
use x11rb::protocol::xproto::ConnectionExt as _;

use super::event::Event;
use super::listener::ListenConfig;
use super::raw::RawInput;
use super::states::States;
use super::tick::{Ticks, told};
use super::window_events::WindowEvents;
use super::work::{Taken, Work};
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::key::Key;
use crate::monotonic::monotonic;
use crate::x11::{Scissors, XConnection};

/// So many are looked at together.
const BATCH: usize = 1000;

/// So much is taken before it is told.
const MOST: usize = 4 * BATCH;

/// How often the server is asked for more before the listener looks whether it is to stop.
const MOST_BATCHES: usize = 8;

/// One event of the server.
pub(super) struct Arrived {
    pub(super) t: Duration,
    pub(super) event: XEvent,
    /// The last request that the server had handled before.
    sequence: SequenceNumber,
}

/// What comes in on a connection.
pub(super) struct Inbox {
    x: XConnection,
    /// Read too early.
    held: Option<Arrived>,
    /// Of the last event that was given out.
    last: SequenceNumber,
}

impl Inbox {
    pub(super) const fn x(&self) -> &XConnection {
        &self.x
    }

    /// Adds what is there; only what came before the server handled the request `before`, if given.
    pub(super) fn gather(
        &mut self,
        before: Option<SequenceNumber>,
        batch: &mut Vec<Arrived>,
    ) -> Result<(), DesktopError> {
        for _ in 0..BATCH {
            let next = match self.held.take() {
                Some(held) => Some(held),
                None => self.x.x().poll_for_event_with_sequence()?.map(arrived),
            };
            let Some(next) = next else {
                break;
            };
            if before.is_some_and(|before| next.sequence >= before) {
                self.held = Some(next);
                break;
            }
            self.last = next.sequence;
            batch.push(next);
        }
        Ok(())
    }
}

fn arrived((event, sequence): (XEvent, SequenceNumber)) -> Arrived {
    Arrived {
        t: monotonic(),
        event,
        sequence,
    }
}

/// Everything that one listener listens to.
pub(super) struct Watch {
    inbox: Inbox,
    input: RawInput,
    windows: Option<WindowEvents>,
    states: States,
    ticks: Option<Ticks>,
    /// All before this request has to be told.
    mark: Option<SequenceNumber>,
}

impl Watch {
    /// The server knows of it when this comes back.
    pub(super) fn open(
        address: &DisplayAddress,
        config: &ListenConfig,
    ) -> Result<Self, DesktopError> {
        if config.is_empty() {
            return Err(DesktopError::Invalid(
                "a listener must listen to something: keyboard, mouse, windows or a state"
                    .to_owned(),
            ));
        }
        let ticks = config.tick.map(Ticks::new).transpose()?;
        let states = States::new(config)?;
        let x = XConnection::open(address)?;
        let input = RawInput::select(&x, config)?;
        let windows = config
            .windows
            .then(|| WindowEvents::select(&x))
            .transpose()?;
        x.sync()?;
        Ok(Self {
            inbox: Inbox {
                x,
                held: None,
                last: 0,
            },
            input,
            windows,
            states,
            ticks,
            mark: None,
        })
    }

    /// Whether some key of the keyboard is this one.
    pub(super) fn has(&self, key: Key) -> bool {
        self.input.keymap().is_some_and(|keymap| keymap.has(key))
    }
}

impl Work for Watch {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.inbox.x.x().stream().as_fd())
    }

    fn due(&self) -> Option<Instant> {
        let tick = self.ticks.as_ref().map(Ticks::due);
        self.states.due().into_iter().chain(tick).min()
    }

    fn scissors(&self) -> Option<Scissors> {
        Some(self.inbox.x.scissors())
    }

    fn catch_up(&mut self) -> Result<(), DesktopError> {
        let asked = self.inbox.x.x().get_input_focus()?;
        self.mark = Some(asked.sequence_number());
        asked.reply()?;
        Ok(())
    }

    fn caught_up(&self) -> bool {
        self.mark.is_none()
    }

    fn take(&mut self, events: &mut Vec<Event>) -> Result<Taken, DesktopError> {
        let mut taken = Taken::More;
        // Counted too, because what is read may come to nothing.
        for _ in 0..MOST_BATCHES {
            if events.len() >= MOST {
                break;
            }
            let mut batch = Vec::new();
            self.inbox.gather(None, &mut batch)?;
            if batch.is_empty() {
                taken = Taken::All;
                break;
            }
            let from = events.len();
            self.input.read(&mut self.inbox, &mut batch, events)?;
            if let Some(windows) = &mut self.windows {
                windows.read(self.inbox.x(), &batch, events)?;
            }
            events[from..].sort_by_key(Event::t);
        }
        let is_reached = |mark: &mut SequenceNumber| self.inbox.last >= *mark;
        if taken == Taken::All || self.mark.as_mut().is_some_and(is_reached) {
            self.mark = None;
        }
        events.extend(self.ticks.as_mut().and_then(told));
        self.states
            .read(self.inbox.x(), self.input.keymap(), events)?;
        Ok(taken)
    }
}
