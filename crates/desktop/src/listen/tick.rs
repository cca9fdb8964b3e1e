//! Moments at an interval, each counted from the first, so that they do not drift by what is done at
//! them. Those that are missed are left out, never made up for.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use super::event::{Event, Tick};
use super::work::{ListenerHandle, Taken, Work};
use crate::error::DesktopError;
use crate::monotonic::monotonic;
use crate::x11::Scissors;

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_hours(24);

/// A plan of moments.
#[derive(Debug)]
pub(super) struct Ticks {
    began: Instant,
    interval: Duration,
    /// The next one.
    number: u64,
}

impl Ticks {
    /// The first comes after one interval.
    pub(super) fn new(interval: Duration) -> Result<Self, DesktopError> {
        if !(SHORTEST..=LONGEST).contains(&interval) {
            return Err(DesktopError::Invalid(format!(
                "an interval of {} s is not possible: use 0.001 s to a day",
                interval.as_secs_f64()
            )));
        }
        Ok(Self {
            began: Instant::now(),
            interval,
            number: 1,
        })
    }

    /// The first comes at once.
    pub(super) fn from_now(interval: Duration) -> Result<Self, DesktopError> {
        let mut ticks = Self::new(interval)?;
        ticks.number = 0;
        Ok(ticks)
    }

    pub(super) fn due(&self) -> Instant {
        let nanos = self.interval.as_nanos() * u128::from(self.number);
        // Enough for centuries.
        self.began + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The latest one that is due by `now`, if any is.
    pub(super) fn take(&mut self, now: Instant) -> Option<u64> {
        if now < self.due() {
            return None;
        }
        let passed =
            now.saturating_duration_since(self.began).as_nanos() / self.interval.as_nanos();
        let number = u64::try_from(passed).unwrap_or(u64::MAX);
        self.number = number.saturating_add(1);
        Some(number)
    }
}

/// Calls back at an interval, needing no desktop.
pub fn tick(
    interval: Duration,
    mut callback: impl FnMut(Tick) + Send + 'static,
) -> Result<ListenerHandle, DesktopError> {
    let ticks = Ticks::new(interval)?;
    ListenerHandle::start("agon-tick", Ticking(ticks), move |event| {
        if let Event::Tick(tick) = event {
            callback(tick);
        }
    })
}

struct Ticking(Ticks);

impl Work for Ticking {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn due(&self) -> Option<Instant> {
        Some(self.0.due())
    }

    fn scissors(&self) -> Option<Scissors> {
        None
    }

    fn catch_up(&mut self) -> Result<(), DesktopError> {
        Ok(())
    }

    fn caught_up(&self) -> bool {
        true
    }

    fn take(&mut self, events: &mut Vec<Event>) -> Result<Taken, DesktopError> {
        events.extend(told(&mut self.0));
        Ok(Taken::All)
    }
}

/// The tick that is due, as it is told.
pub(super) fn told(ticks: &mut Ticks) -> Option<Event> {
    let number = ticks.take(Instant::now())?;
    Some(Event::Tick(Tick {
        t: monotonic(),
        number,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn late_ticks_do_not_move_the_next() {
        let mut ticks = Ticks::new(SECOND).unwrap();
        let began = ticks.began;
        assert_eq!(ticks.take(began + SECOND / 2), None);
        assert_eq!(ticks.take(began + SECOND * 3 / 2), Some(1));
        assert_eq!(ticks.due(), began + SECOND * 2);
        assert_eq!(ticks.take(began + SECOND * 3 / 2), None);
        assert_eq!(
            ticks.take(began + SECOND * 57 / 10),
            Some(5),
            "those between are missed"
        );
        assert_eq!(ticks.due(), began + SECOND * 6);
    }

    #[test]
    fn one_from_now_is_due_at_once() {
        let mut ticks = Ticks::from_now(SECOND).unwrap();
        assert_eq!(ticks.take(ticks.began), Some(0));
        assert_eq!(ticks.due(), ticks.began + SECOND);
    }

    #[test]
    fn intervals_that_make_no_sense_are_refused() {
        for bad in [Duration::ZERO, Duration::from_micros(999), Duration::MAX] {
            assert!(Ticks::new(bad).unwrap_err().is_callers());
        }
    }
}
