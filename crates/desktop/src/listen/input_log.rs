//! All that keyboard and mouse did on a desktop, kept until somebody takes it: what the server really
//! saw, beside what an agent asked for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_core::InputKind;

use super::event::{Event, InputEvent};
use super::listener::ListenConfig;
use super::work::ListenerHandle;
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::x11::XConnection;

/// So many are kept; then the oldest are dropped.
const MOST: usize = 100_000;

/// It ends when this is dropped.
#[derive(Debug)]
pub struct InputLog {
    handle: ListenerHandle,
    /// The connection that input goes out on.
    x: Arc<XConnection>,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<InputEvent>,
    dropped: u64,
}

impl Desktop {
    /// What happens after this came back is in the log.
    pub fn input_log(&self) -> Result<InputLog, DesktopError> {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let keep = Arc::clone(&kept);
        let handle = self.listen_with(&ListenConfig::input(), move |event| {
            if let Event::Input(event) = event {
                let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                kept.add(event, MOST);
            }
        })?;
        Ok(InputLog {
            handle,
            x: Arc::clone(self.x()),
            kept,
        })
    }
}

impl InputLog {
    /// Comes back when everything that the server has seen so far is in the log, what was sent
    /// through the desktop before included.
    pub fn sync(&self, within: Duration) -> Result<(), DesktopError> {
        self.x.sync()?;
        self.handle.catch_up(within)
    }

    /// What is in the log, which is empty then, and how many events had no place in it.
    pub fn take(&self) -> (Vec<InputEvent>, u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = std::mem::take(&mut *kept);
        (kept.events.into(), kept.dropped)
    }

    /// To ask whether it is alive, and what ended it.
    pub const fn handle(&self) -> &ListenerHandle {
        &self.handle
    }
}

impl Kept {
    /// When room gets scarce, motions with nothing between them are one.
    fn add(&mut self, event: InputEvent, most: usize) {
        if self.events.len() >= most / 2
            && let Some(last) = self.events.back_mut()
            && (last.kind, event.kind) == (InputKind::Motion, InputKind::Motion)
        {
            *last = event;
            return;
        }
        if self.events.len() >= most {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motions_are_one_and_the_oldest_go_first() {
        let mut kept = Kept::default();
        let kinds = [
            InputKind::Motion,
            InputKind::Motion,
            InputKind::ButtonPress,
            InputKind::Motion,
            InputKind::Motion,
            InputKind::Motion,
            InputKind::ButtonRelease,
        ];
        for (at, kind) in (0..).zip(kinds) {
            kept.add(InputEvent::new(Duration::from_secs(at), kind), 3);
        }
        let left: Vec<u64> = kept.events.iter().map(|event| event.t.as_secs()).collect();
        assert_eq!(left, [2, 5, 6]);
        assert_eq!(kept.dropped, 1);
    }
}
