//! What has been recorded of an attempt so far, for whoever wants to know it while it is played: the
//! onlooker of the run, and a user who looks back. Kept in memory only if there is such a user.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::{Event, Task, TrialId, User};
use agon_store::{Listener, Recorder};

use crate::watch::Watch;

#[derive(Debug, Clone, Default)]
pub(crate) struct SoFar(Option<Arc<Mutex<Vec<Event>>>>);

impl SoFar {
    /// From here on everybody who wants to know of events is told.
    pub(crate) fn of(
        recorder: &mut Recorder,
        watch: &Arc<dyn Watch>,
        trial: &TrialId,
        task: &Task,
    ) -> Self {
        let looks_back = matches!(task.user.on_host(), User::Own(_));
        let kept = Self(looks_back.then(Arc::default));
        if looks_back || watch.hears_events() {
            let (watch, of, keeps) = (Arc::clone(watch), trial.clone(), kept.clone());
            recorder.tell(Listener::new(move |event| {
                if watch.hears_events() {
                    watch.event(&of, event);
                }
                keeps.add(event);
            }));
        }
        kept
    }

    fn add(&self, event: &Event) {
        if let Some(events) = &self.0 {
            let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
            events.push(event.clone());
        }
    }

    /// Takes all of it out, to be given back.
    pub(crate) fn take(&self) -> Vec<Event> {
        self.0.as_ref().map_or_else(Vec::new, |events| {
            mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// Whatever was recorded in the meantime comes after it.
    pub(crate) fn give_back(&self, mut before: Vec<Event>) {
        if let Some(events) = &self.0 {
            let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
            before.append(&mut events);
            *events = before;
        }
    }
}
