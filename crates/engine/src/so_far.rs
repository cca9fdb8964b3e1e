//! What has been recorded of an attempt so far, for whoever wants to know it while it is played: the
//! onlooker of the run, a user who looks back, and a judge. Kept in memory only if there is such a one.

use std::sync::{Arc, Mutex, PoisonError};

use agon_core::{Event, EventBody, Picture, Task, TrialId, User};
use agon_store::{Listener, Recorder};

use crate::watch::Watch;

#[derive(Debug, Clone, Default)]
pub(crate) struct SoFar(Option<Arc<Mutex<Arc<Vec<Event>>>>>);

impl SoFar {
    /// From here on everybody who wants to know of events is told.
    pub(crate) fn of(
        recorder: &mut Recorder,
        watch: &Arc<dyn Watch>,
        trial: &TrialId,
        task: &Task,
    ) -> Self {
        let looks_back = matches!(task.user.on_host(), User::Own(_)) || task.needs_judge();
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
            // Copies those before it only if a user still holds them.
            Arc::make_mut(&mut events).push(as_recorded(event));
        }
    }

    /// All of it, up to now.
    pub(crate) fn events(&self) -> Arc<Vec<Event>> {
        self.0.as_ref().map_or_else(Arc::default, |events| {
            Arc::clone(&events.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}

/// Pictures are in the run folder, and would fill the memory here.
fn as_recorded(event: &Event) -> Event {
    let mut event = event.clone();
    let lighten = |picture: &mut Picture| *picture = picture.without_data();
    match &mut event.body {
        EventBody::Observation(seen) => {
            seen.pictures.iter_mut().for_each(lighten);
            if let Some(screen) = &mut seen.screen {
                lighten(&mut screen.picture);
            }
        }
        EventBody::Screen(record) => lighten(&mut record.screen.picture),
        _ => {}
    }
    event
}
