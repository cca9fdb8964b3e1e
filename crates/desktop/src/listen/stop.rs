//! A signal that something must end: set from anywhere, once, seen at once by all who wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct StopSignal {
    set: AtomicBool,
    /// Guards nothing: it lets those who wait not miss the moment.
    gate: Mutex<()>,
    changed: Condvar,
}

impl StopSignal {
    pub fn set(&self) {
        self.set.store(true, Ordering::Release);
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }

    /// Wakes all who wait, without being set.
    pub fn nudge(&self) {
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }

    /// Costs next to nothing.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Waits for it; says whether it is set.
    pub fn wait(&self, within: Duration) -> bool {
        self.wait_unless(within, || false)
    }

    /// As [`StopSignal::wait`], until there is nothing to wait for any more: that is looked at when
    /// somebody nudges.
    pub fn wait_unless(&self, within: Duration, done: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = within.saturating_sub(began.elapsed());
            if self.is_set() || left.is_zero() || done() {
                return self.is_set();
            }
            let waited = self.changed.wait_timeout(gate, left);
            (gate, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn whoever_waits_is_woken() {
        let signal = Arc::new(StopSignal::default());
        assert!(!signal.wait(Duration::from_millis(1)));
        let waiting = Arc::clone(&signal);
        let waiter = std::thread::spawn(move || waiting.wait(Duration::from_secs(3600)));
        signal.set();
        assert!(waiter.join().unwrap());
        assert!(signal.is_set() && signal.wait(Duration::MAX));
    }

    #[test]
    fn who_has_nothing_to_wait_for_is_woken_by_a_nudge() {
        let signal = Arc::new(StopSignal::default());
        let done = Arc::new(AtomicBool::new(false));
        let (waiting, seen) = (Arc::clone(&signal), Arc::clone(&done));
        let waiter = std::thread::spawn(move || {
            let day = Duration::from_secs(24 * 3600);
            waiting.wait_unless(day, || seen.load(Ordering::Acquire))
        });
        done.store(true, Ordering::Release);
        signal.nudge();
        assert!(!waiter.join().unwrap());
    }
}
