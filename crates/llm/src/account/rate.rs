//! How much an agent's own client asks: whether a service that refuses a call for being asked too often may
//! mean the agent's other calls. Only one that refuses a call of an agent which has been quiet is to blame.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The calls of one trial through its gateway.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    state: Mutex<State>,
    /// One call at a time is tried once more when all others are quiet.
    patient: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Names of calls, in order.
    next: u64,
    /// Requests under way, by call.
    active: Vec<u64>,
    /// When the last two calls that did anything did it last, the later one first.
    recent: [Option<(u64, Instant)>; 2],
    /// When the service last refused a call that was tried alone.
    refused: Option<Instant>,
}

impl Rate {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A name for a further call.
    pub(crate) fn name(&self) -> u64 {
        self.with(|state| {
            state.next += 1;
            state.next
        })
    }

    /// A request of this call goes out.
    pub(crate) fn begin(&self, call: u64, now: Instant) {
        self.with(|state| {
            state.active.push(call);
            state.touch(call, now);
        });
    }

    /// It is over, one way or another.
    pub(crate) fn end(&self, call: u64, now: Instant) {
        self.with(|state| {
            if let Some(at) = state.active.iter().position(|active| *active == call) {
                state.active.swap_remove(at);
                state.touch(call, now);
            }
        });
    }

    /// For how long no other call has done anything; `None`: one is under way.
    pub(crate) fn quiet(&self, call: u64, now: Instant) -> Option<Duration> {
        self.with(|state| {
            if state.active.iter().any(|active| *active != call) {
                return None;
            }
            let mut others = state.recent.iter().flatten();
            let other = others.find(|(other, _)| *other != call);
            Some(other.map_or(Duration::MAX, |(_, at)| now.saturating_duration_since(*at)))
        })
    }

    /// The turn of a call to be tried alone.
    pub(crate) async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.patient.lock().await
    }

    /// The service refuses also what is asked patiently.
    pub(crate) fn refuse(&self, now: Instant) {
        self.with(|state| state.refused = Some(now));
    }

    /// Whether it did so within this time.
    pub(crate) fn refused(&self, within: Duration, now: Instant) -> bool {
        self.with(|state| {
            state
                .refused
                .is_some_and(|at| now.saturating_duration_since(at) < within)
        })
    }
}

impl State {
    fn touch(&mut self, call: u64, now: Instant) {
        if self.recent[0].is_none_or(|(last, _)| last != call) {
            self.recent[1] = self.recent[0];
        }
        self.recent[0] = Some((call, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_quiet_when_no_other_does_anything() {
        let rate = Rate::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let (one, two) = (rate.name(), rate.name());
        rate.begin(one, at(0));
        assert_eq!(rate.quiet(one, at(9)), Some(Duration::MAX));
        assert_eq!(rate.quiet(two, at(9)), None);
        rate.end(one, at(10));
        rate.begin(two, at(11));
        rate.end(two, at(12));
        rate.begin(two, at(13));
        assert_eq!(rate.quiet(two, at(20)), Some(Duration::from_secs(10)));
        assert_eq!(rate.quiet(one, at(20)), None);
        rate.end(two, at(14));
        assert_eq!(rate.quiet(one, at(20)), Some(Duration::from_secs(6)));
        // What never began does not end.
        rate.end(one, at(19));
        assert_eq!(rate.quiet(two, at(20)), Some(Duration::from_secs(10)));
    }
}
