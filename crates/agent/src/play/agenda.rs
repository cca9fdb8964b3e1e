//! What is to be done when: entries in the order in which they are due, and of those due at the same
//! moment in the order in which they came. Has no clock of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Entries at a time. Who plans further ahead than this does not play.
const MOST: usize = 10_000;

#[derive(Debug)]
pub(super) struct Agenda<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    count: u64,
}

#[derive(Debug)]
struct Entry<T> {
    due: Duration,
    number: u64,
    what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            count: 0,
        }
    }
}

impl<T> Agenda<T> {
    /// `false` when there are too many already.
    pub(super) fn add(&mut self, due: Duration, what: T) -> bool {
        if self.heap.len() >= MOST {
            return false;
        }
        let number = self.count;
        self.count += 1;
        self.heap.push(Reverse(Entry { due, number, what }));
        true
    }

    /// The first entry that is due by `now`, and since how long it is.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(T, Duration)> {
        let late = now.checked_sub(self.next_due()?)?;
        self.heap.pop().map(|Reverse(entry)| (entry.what, late))
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse(entry)| entry.due)
    }

    /// All that is left, in order.
    pub(super) fn drain(&mut self) -> Vec<T> {
        let mut rest = Vec::with_capacity(self.heap.len());
        while let Some(Reverse(entry)) = self.heap.pop() {
            rest.push(entry.what);
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn nothing_is_done_too_early_and_all_in_order() {
        let mut agenda = Agenda::default();
        for (due, what) in [(350, 'd'), (20, 'b'), (20, 'c'), (0, 'a'), (400, 'e')] {
            assert!(agenda.add(ms(due), what));
        }
        assert_eq!(agenda.take_due(ms(0)), Some(('a', ms(0))));
        assert_eq!(agenda.take_due(ms(19)), None);
        assert_eq!(agenda.next_due(), Some(ms(20)));
        assert_eq!(agenda.take_due(ms(21)), Some(('b', ms(1))));
        assert_eq!(agenda.take_due(ms(22)), Some(('c', ms(2))));
        assert_eq!(agenda.take_due(ms(349)), None);
        assert_eq!(agenda.drain(), ['d', 'e']);
        assert_eq!(agenda.next_due(), None);
    }

    #[test]
    fn there_are_never_too_many() {
        let mut agenda = Agenda::default();
        let taken = (0..MOST + 5)
            .filter(|at| agenda.add(ms(*at as u64), ()))
            .count();
        assert_eq!(taken, MOST);
    }
}
