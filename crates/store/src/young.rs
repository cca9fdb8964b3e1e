//! Watches over attempts that have just begun: one that is still there after a second is written to a folder
//! of its own though nothing happens in it, so that others can see it. Costs a short attempt one entry in a
//! list.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::attendant::{Attendant, Desk};
use crate::place::{Place, YOUNG};

/// Attempts that began within so short a time are looked at together.
const TOGETHER: Duration = Duration::from_millis(50);

/// The oldest first. One that has ended is gone by itself.
type Attempts = VecDeque<(Instant, Weak<Place>)>;

/// A place must not own one of these: the thread may be the last to let go of a place, and can't wait for
/// itself.
#[derive(Debug)]
pub(crate) struct Young(Attendant<Attempts>);

impl Young {
    pub(crate) fn start() -> io::Result<Self> {
        Attendant::start("agon-young", run).map(Self)
    }

    /// Moves it out in a second, if it is still there then.
    pub(crate) fn watch(&self, place: &Arc<Place>) {
        let desk = self.0.desk();
        let mut state = desk.lock();
        if state.work.is_empty() {
            desk.wake();
        }
        let due = Instant::now() + YOUNG;
        state.work.push_back((due, Arc::downgrade(place)));
    }
}

fn run(desk: &Desk<Attempts>) {
    let mut state = desk.lock();
    while !state.stopping {
        state = match state.work.front() {
            None => desk.wait_while(state, VecDeque::is_empty),
            Some((due, _)) => {
                let wait = due.saturating_duration_since(Instant::now()) + TOGETHER;
                desk.pause(state, wait)
            }
        };
        let lasting = take_old(&mut state.work, Instant::now());
        // Whoever records must not wait here for a disk.
        drop(state);
        for place in lasting {
            place.grow_old();
        }
        state = desk.lock();
    }
}

/// Those that are old by now; those that have ended are forgotten as far as it is easy.
fn take_old(attempts: &mut Attempts, now: Instant) -> Vec<Arc<Place>> {
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
