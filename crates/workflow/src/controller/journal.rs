//! What was recorded of a conversation so far, for whoever makes a state from it, and for onlookers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::{Event, TrialId};
use agon_engine::Watch;

/// Is shown every event as it is recorded.
pub(crate) type Onlooker = Arc<dyn Fn(&Event) + Send + Sync>;

pub(super) struct Journal {
    events: Mutex<Vec<Event>>,
    onlooker: Option<Onlooker>,
}

impl Journal {
    pub(super) fn new(onlooker: Option<Onlooker>) -> Self {
        Self {
            events: Mutex::default(),
            onlooker,
        }
    }

    pub(super) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
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
        if let Some(show) = &self.onlooker {
            show(event);
        }
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event.clone());
    }
}
