//! Watches over attempts that have just begun: one that is still there after a second is written to a folder
//! of its own though nothing happens in it, so that others can see it. Costs a short attempt one entry in a
//! list.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::place::{Place, YOUNG};

/// Attempts that began within so short a time are looked at together.
const TOGETHER: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
struct State {
    /// The oldest first. One that has ended is gone by itself.
    attempts: VecDeque<(Instant, Weak<Place>)>,
    stopping: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A place must not own one of these: the thread may be the last to let go of a place, and can't wait for
/// itself.
#[derive(Debug)]
pub(crate) struct Young {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Young {
    pub(crate) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = std::thread::Builder::new()
            .name("agon-young".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || run(&shared)
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Moves it out in a second, if it is still there then.
    pub(crate) fn watch(&self, place: &Arc<Place>) {
        let state = self.shared.state.lock();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.attempts.is_empty() {
            self.shared.changed.notify_one();
        }
        let due = Instant::now() + YOUNG;
        state.attempts.push_back((due, Arc::downgrade(place)));
    }
}

impl Drop for Young {
    fn drop(&mut self) {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).stopping = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn run(shared: &Shared) {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.stopping {
        state = match state.attempts.front() {
            None => {
                let woken = shared.changed.wait(state);
                woken.unwrap_or_else(PoisonError::into_inner)
            }
            Some((due, _)) => {
                let wait = due.saturating_duration_since(Instant::now()) + TOGETHER;
                let woken = shared
                    .changed
                    .wait_timeout_while(state, wait, |state| !state.stopping);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        let lasting = take_old(&mut state.attempts, Instant::now());
        // Whoever records must not wait here for a disk.
        drop(state);
        for place in lasting {
            place.grow_old();
        }
        state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

/// Those that are old by now; those that have ended are forgotten as far as it is easy.
fn take_old(attempts: &mut VecDeque<(Instant, Weak<Place>)>, now: Instant) -> Vec<Arc<Place>> {
    let mut old = Vec::new();
    while let Some((due, place)) = attempts.front() {
        match place.upgrade() {
            None => {}
            Some(place) if *due <= now => old.push(place),
            Some(_) => break,
        }
        attempts.pop_front();
    }
    old
}
