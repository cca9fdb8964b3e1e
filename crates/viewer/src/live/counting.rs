//! Asks for results in a thread of its own: to take in and count the trials of a large run takes time, and
//! what running trials do is told meanwhile.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use super::results::{Fresh, Results};
use crate::library::Run;

/// Ends its thread when it goes.
#[derive(Debug)]
pub(super) struct Counting(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    held: Mutex<Held>,
    changed: Condvar,
    /// Can be read when something was found.
    bell: OwnedFd,
}

#[derive(Debug, Default)]
struct Held {
    /// Something was written that nobody has asked about.
    written: bool,
    /// It was asked for the first time, whatever came of it.
    answered: bool,
    found: Fresh,
    closed: bool,
}

impl Counting {
    pub(super) fn start(run: Arc<Run>) -> io::Result<Self> {
        let desk = Arc::new(Desk {
            held: Mutex::default(),
            changed: Condvar::new(),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        });
        let own = Self(Arc::clone(&desk));
        let thread = thread::Builder::new().name("count a run".to_owned());
        thread.spawn(move || desk.work(&run))?;
        Ok(own)
    }

    /// Lines were added.
    pub(super) fn ask(&self) {
        self.0.lock().written = true;
        self.0.changed.notify_all();
    }

    /// What was found since it was last taken.
    pub(super) fn take(&self) -> Fresh {
        let mut count = [0; 8];
        // Nothing to read is no fault.
        rustix::io::read(&self.0.bell, &mut count).ok();
        std::mem::take(&mut self.0.lock().found)
    }

    /// Waits for the first answer; says whether it is there.
    pub(super) fn is_answered(&self, patience: Duration) -> bool {
        let waits = |held: &mut Held| !held.answered;
        let (held, _) = self
            .0
            .changed
            .wait_timeout_while(self.0.lock(), patience, waits)
            .unwrap_or_else(PoisonError::into_inner);
        held.answered
    }

    pub(super) fn bell(&self) -> &OwnedFd {
        &self.0.bell
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

impl Desk {
    fn work(&self, run: &Run) {
        let mut results = Results::new(Instant::now());
        loop {
            let fresh = results.look(run);
            self.put(fresh);
            match self.wait(results.due()) {
                Next::End => return,
                Next::Written => results.written(),
                Next::Due => {}
            }
        }
    }

    fn put(&self, fresh: Fresh) {
        let mut held = self.lock();
        held.answered = true;
        let rings = fresh.counts.is_some();
        held.found.rows.extend(fresh.rows);
        held.found.counts = fresh.counts.or(held.found.counts);
        drop(held);
        self.changed.notify_all();
        if rings {
            // Full is as good as rung.
            rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).ok();
        }
    }

    fn wait(&self, due: Option<Instant>) -> Next {
        let mut held = self.lock();
        loop {
            if held.closed {
                return Next::End;
            }
            // Until it may be asked again, more that is written changes nothing.
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            held = match left {
                None if std::mem::take(&mut held.written) => return Next::Written,
                None => self
                    .changed
                    .wait(held)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    held.written = false;
                    return Next::Due;
                }
                Some(left) => {
                    let waited = self.changed.wait_timeout(held, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Next {
    End,
    Written,
    Due,
}
