//! Time.

use agon_core::Clock;
use agon_core::clock::SystemClock;

use super::bind::callable;
use crate::registry::callable::Callable;
use crate::registry::shelf::Registry;

pub(super) fn put(registry: &Registry<Callable>) {
    callable!(
        registry,
        "std/time_ns",
        "Nanoseconds since 1970.",
        (),
        |_context| Ok(now_ns())
    );
    registry.put_alias("clock.time_ns", "std/time_ns");
}

pub(in crate::registry) fn now_ns() -> i64 {
    let now = SystemClock::default().now().as_nanosecond();
    i64::try_from(now).unwrap_or(i64::MAX)
}
