//! The clock of everything that a desktop reports: time since the machine started, the same in every
//! process and thread, never going back. Knows nothing of dates.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since the machine started.
pub fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is ever negative on this clock.
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
