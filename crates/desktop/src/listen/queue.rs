//! A bounded queue between a listener and whoever reads from it: when it is full the oldest is
//! dropped and counted, so a slow reader never stops the listener.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::event::Event;

#[derive(Debug)]
pub(super) struct Queue {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    dropped: u64,
    closed: bool,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, event: Event) {
        let mut state = self.state();
        if state.events.len() >= self.most {
            state.events.pop_front();
            state.dropped += 1;
        }
        state.events.push_back(event);
        self.changed.notify_one();
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// The oldest; `None` when nothing came in time, or nothing can come any more.
    pub(super) fn pop(&self, within: Duration) -> Option<Event> {
        let began = Instant::now();
        let mut state = self.state();
        loop {
            let left = within.saturating_sub(began.elapsed());
            if let Some(event) = state.events.pop_front() {
                return Some(event);
            }
            if state.closed || left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn dropped(&self) -> u64 {
        self.state().dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listen::event::Tick;

    fn event(number: u64) -> Event {
        let t = Duration::ZERO;
        Event::Tick(Tick { t, number })
    }

    #[test]
    fn the_oldest_is_dropped_and_counted() {
        let queue = Queue::new(3);
        for number in 0..10 {
            queue.push(event(number));
        }
        queue.close();
        let left = std::iter::from_fn(|| queue.pop(Duration::MAX));
        assert_eq!(left.collect::<Vec<_>>(), [event(7), event(8), event(9)]);
        assert_eq!(queue.dropped(), 7);
    }

    #[test]
    fn whoever_waits_learns_of_the_end() {
        let queue = Queue::new(3);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| queue.pop(Duration::from_secs(3600)));
            queue.close();
            assert_eq!(waiter.join().unwrap(), None);
        });
    }
}
