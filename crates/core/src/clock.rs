//! Time as a thing that is handed in. Only `SystemClock` looks at the real clock; everything else
//! gets a `&dyn Clock`, so that tests and frozen plans see the time they were given.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use jiff::Timestamp;

pub trait Clock: Debug + Send + Sync {
    /// Wall-clock time, for records that people read.
    fn now(&self) -> Timestamp;
    /// Time since an arbitrary fixed point that never goes backwards, for durations.
    fn monotonic(&self) -> Duration;
}

#[derive(Debug, Clone)]
pub struct SystemClock {
    origin: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// A clock that stands still: for tests and for expanding dates in a frozen plan.
#[derive(Debug, Clone)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}
