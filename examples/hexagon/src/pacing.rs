//! Time in steps and frames. Real time goes in; what was too long for one frame is forgotten, so that
//! a process that was frozen goes on where it was.

use std::time::{Duration, Instant};

use crate::world::RATE;

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// More time than this is never caught up with at once.
const LONGEST: Duration = Duration::from_millis(50);

/// Turns time that has passed into whole steps, without losing any.
#[derive(Debug)]
pub struct Steps {
    last: Instant,
    /// In nanoseconds times `RATE`.
    rest: u64,
}

impl Steps {
    pub const fn new(now: Instant) -> Self {
        Self { last: now, rest: 0 }
    }

    /// Steps that are due now.
    pub fn due(&mut self, now: Instant) -> u32 {
        const SECOND: u64 = 1_000_000_000;
        let passed = now.saturating_duration_since(self.last).min(LONGEST);
        self.last = now;
        self.rest += passed.as_nanos() as u64 * u64::from(RATE);
        let steps = self.rest / SECOND;
        self.rest %= SECOND;
        steps as u32
    }
}

/// When the next frame is to be shown.
#[derive(Debug)]
pub struct Frames {
    next: Instant,
}

impl Frames {
    pub const fn new(now: Instant) -> Self {
        Self { next: now }
    }

    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Whether a frame is due. Frames that were missed are not made up for.
    pub fn due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.next += FRAME;
        if self.next <= now {
            self.next = now + FRAME;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_lost_between_steps() {
        let start = Instant::now();
        let mut steps = Steps::new(start);
        let mut sum = 0;
        for millisecond in 1..=10_000 {
            sum += steps.due(start + Duration::from_millis(millisecond));
        }
        assert_eq!(sum, 10 * RATE);
    }

    #[test]
    fn a_frozen_process_sees_no_jump() {
        let start = Instant::now();
        let mut steps = Steps::new(start);
        assert_eq!(steps.due(start + Duration::from_secs(60)), 6);
        assert_eq!(steps.due(start + Duration::from_millis(60_100)), 6);
    }

    #[test]
    fn there_are_sixty_frames_in_a_second_and_none_twice() {
        let start = Instant::now();
        let mut frames = Frames::new(start);
        let shown = (0..1000)
            .filter(|&ms| frames.due(start + Duration::from_millis(ms)))
            .count();
        assert_eq!(shown, 60);
        let late = start + Duration::from_secs(9);
        assert!(frames.due(late) && !frames.due(late));
    }
}
