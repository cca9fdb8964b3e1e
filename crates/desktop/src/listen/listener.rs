//! Listening to a desktop, in two forms: a stream that is read, and a callback.

use std::sync::Arc;
use std::time::Duration;

use super::event::Event;
use super::queue::Queue;
use super::watch::Watch;
use super::work::ListenerHandle;
use crate::desktop::Desktop;
use crate::error::DesktopError;

/// What is listened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenConfig {
    pub keyboard: bool,
    pub mouse: bool,
    pub windows: bool,
    /// How often the state of the keyboard is told.
    pub keyboard_state: Option<Duration>,
    pub mouse_state: Option<Duration>,
    pub tick: Option<Duration>,
    /// Events that a stream keeps for its reader; then the oldest are dropped.
    pub keep: usize,
}

impl ListenConfig {
    /// How often states are told, unless somebody wants it otherwise.
    pub const INTERVAL: Duration = Duration::from_secs(1);

    pub const NOTHING: Self = Self {
        keyboard: false,
        mouse: false,
        windows: false,
        keyboard_state: None,
        mouse_state: None,
        tick: None,
        keep: 10_000,
    };

    pub const fn keyboard() -> Self {
        Self {
            keyboard: true,
            ..Self::NOTHING
        }
    }

    pub const fn mouse() -> Self {
        Self {
            mouse: true,
            ..Self::NOTHING
        }
    }

    /// Keyboard and mouse.
    pub const fn input() -> Self {
        Self {
            mouse: true,
            ..Self::keyboard()
        }
    }

    pub const fn windows() -> Self {
        Self {
            windows: true,
            ..Self::NOTHING
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        let events = self.keyboard || self.mouse || self.windows;
        let states = self.keyboard_state.is_some() || self.mouse_state.is_some();
        !events && !states && self.tick.is_none()
    }
}

impl Default for ListenConfig {
    /// Keyboard, mouse and windows.
    fn default() -> Self {
        Self {
            windows: true,
            ..Self::input()
        }
    }
}

impl Desktop {
    /// Listens, for somebody who reads. What happens after this came back is told.
    pub fn listen(&self, config: &ListenConfig) -> Result<Listener, DesktopError> {
        let queue = Arc::new(Queue::new(config.keep));
        let closing = Closing(Arc::clone(&queue));
        let handle = self.listen_with(config, move |event| closing.0.push(event))?;
        Ok(Listener { handle, queue })
    }

    /// Listens and calls back, in a thread of its own. A callback that panics ends its listener and
    /// nothing else.
    pub fn listen_with(
        &self,
        config: &ListenConfig,
        callback: impl FnMut(Event) + Send + 'static,
    ) -> Result<ListenerHandle, DesktopError> {
        let watch = Watch::open(self.address(), config)?;
        ListenerHandle::start("agon-listen", watch, callback)
    }
}

/// A stream of events. It ends when this is dropped.
#[derive(Debug)]
pub struct Listener {
    handle: ListenerHandle,
    queue: Arc<Queue>,
}

impl Listener {
    /// The next event; `None` when none came in that time, or the listener was stopped. When it
    /// ended of anything else, that is the error, after the last event.
    pub fn next(&self, within: Duration) -> Result<Option<Event>, DesktopError> {
        match self.queue.pop(within) {
            Some(event) => Ok(Some(event)),
            None => self.handle.ended().map(|_| None),
        }
    }

    /// All events until the listener is stopped; an error is the last.
    pub fn events(&self) -> Events<'_> {
        Events {
            listener: self,
            ended: false,
        }
    }

    /// How many events nobody read in time.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// To stop it from another thread, or to ask whether it is alive.
    pub const fn handle(&self) -> &ListenerHandle {
        &self.handle
    }
}

/// Waits for each event.
#[derive(Debug)]
pub struct Events<'a> {
    listener: &'a Listener,
    ended: bool,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, DesktopError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.listener.next(Duration::MAX).transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Lets a reader know when the listener is gone.
struct Closing(Arc<Queue>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}
