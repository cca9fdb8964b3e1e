//! The world that is played in: it can stand still while its player thinks. Its time is what has gone
//! by while it ran.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What stops and goes with [`agon_core::realtime::WorldClock::Paused`]: the processes of a game, say.
pub trait World: Send + Sync + fmt::Debug {
    fn freeze(&self) -> Result<(), String>;

    /// Also called when the play ends in any way, so that nothing is left standing.
    fn resume(&self) -> Result<(), String>;
}

/// The time of a world. Every moment is given by who asks, so that tests need not wait.
#[derive(Debug)]
pub(super) struct Timeline {
    began: Instant,
    hidden: Duration,
    frozen: Option<Instant>,
}

impl Timeline {
    pub(super) fn begin(now: Instant) -> Self {
        Self {
            began: now,
            hidden: Duration::ZERO,
            frozen: None,
        }
    }

    pub(super) fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    pub(super) fn freeze(&mut self, now: Instant) {
        self.frozen.get_or_insert(now);
    }

    pub(super) fn resume(&mut self, now: Instant) {
        self.hidden = self.hidden(now);
        self.frozen = None;
    }

    /// Wall time that the world has not seen.
    pub(super) fn hidden(&self, now: Instant) -> Duration {
        let standing = self
            .frozen
            .map(|since| now.saturating_duration_since(since));
        self.hidden + standing.unwrap_or_default()
    }

    /// Time of the world since it began.
    pub(super) fn now(&self, now: Instant) -> Duration {
        let wall = now.saturating_duration_since(self.began);
        wall.saturating_sub(self.hidden(now))
    }
}

/// A world that is stopped and let go together with its time.
#[derive(Debug, Clone)]
pub(super) struct Brakes {
    pub(super) world: Arc<dyn World>,
    pub(super) slice: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_with_the_world() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let ms = Duration::from_millis;
        let mut time = Timeline::begin(began);
        assert_eq!(time.now(at(10)), ms(10));
        time.freeze(at(10));
        time.freeze(at(20));
        assert_eq!((time.now(at(500)), time.hidden(at(500))), (ms(10), ms(490)));
        time.resume(at(1010));
        time.resume(at(1015));
        assert_eq!(
            (time.now(at(1020)), time.hidden(at(1020))),
            (ms(20), ms(1000))
        );
        assert!(!time.is_frozen());
        time.freeze(at(1030));
        assert_eq!(
            (time.now(at(1040)), time.hidden(at(1040))),
            (ms(30), ms(1010))
        );
    }
}
