//! What was recorded of a conversation so far, for whoever makes a state from it, and for onlookers; and in
//! the file of its session, if it has one.

use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};

use agon_core::{Event, TrialId};
use agon_engine::Watch;

use super::log::Log;

/// Is shown every event as it is recorded.
pub(crate) type Onlooker = Arc<dyn Fn(&Event) + Send + Sync>;

pub(super) struct Journal {
    events: Mutex<Vec<Event>>,
    onlooker: Option<Onlooker>,
    log: Mutex<Option<Log>>,
}

impl Journal {
    /// What is logged has the numbers that it has in the log.
    pub(super) fn new(onlooker: Option<Onlooker>, log: Option<Log>) -> Self {
        Self {
            events: Mutex::default(),
            onlooker,
            log: Mutex::new(log),
        }
    }

    pub(super) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Nothing is logged after this. The error is that of the first event that could not be.
    pub(super) fn close(&self) -> io::Result<()> {
        let log = self
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        log.map_or(Ok(()), Log::finish)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

impl Watch for Journal {
    fn hears_events(&self) -> bool {
        true
    }

    fn event(&self, _: &TrialId, event: &Event) {
        let mut kept = event.clone();
        if let Some(log) = &mut *self.log.lock().unwrap_or_else(PoisonError::into_inner) {
            log.write(&mut kept);
        }
        // Afterwards: what somebody was shown is not lost.
        if let Some(show) = &self.onlooker {
            show(event);
        }
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(kept);
    }
}
