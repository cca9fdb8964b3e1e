//! A clock that stands until it is moved: records that took hours are written in a moment.

use std::sync::Mutex;
use std::time::Duration;

use agon_core::Clock;
use jiff::{SignedDuration, Timestamp};

#[derive(Debug)]
pub struct HandClock {
    origin: Timestamp,
    passed: Mutex<Duration>,
}

impl HandClock {
    pub fn at(origin: Timestamp) -> Self {
        Self {
            origin,
            passed: Mutex::new(Duration::ZERO),
        }
    }

    pub fn advance(&self, by: Duration) {
        if let Ok(mut passed) = self.passed.lock() {
            *passed += by;
        }
    }

    fn passed(&self) -> Duration {
        self.passed.lock().map(|passed| *passed).unwrap_or_default()
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.passed()).unwrap_or_default();
        self.origin.saturating_add(passed).unwrap_or(self.origin)
    }

    fn monotonic(&self) -> Duration {
        self.passed()
    }
}
