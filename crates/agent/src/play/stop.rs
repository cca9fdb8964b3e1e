//! How a play is told to end: one signal per task with the first cause, and the operator's switch that
//! outlives tasks. Knows nothing of who plays.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agon_desktop::StopSignal;

/// Why a play was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// By whoever runs the play, for no reason of the task.
    Asked,
    Timeout,
    EnvEnded,
    /// A person, by the panic key or a [`StopEvent`].
    Operator,
}

/// One per task: once it is set, it stays so.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    signal: Arc<StopSignal>,
    cause: Arc<OnceLock<Cause>>,
}

impl Stop {
    pub fn new() -> Self {
        Self::default()
    }

    /// The first cause counts.
    pub fn ask(&self, cause: Cause) {
        // Whoever has set the bare signal was first, also if nobody has asked for its cause yet.
        self.cause.get_or_init(|| {
            if self.is_set() {
                Cause::Operator
            } else {
                cause
            }
        });
        self.signal.set();
    }

    pub fn cause(&self) -> Option<Cause> {
        // Whoever has the bare signal is a panic key.
        let set = self.is_set();
        set.then(|| *self.cause.get_or_init(|| Cause::Operator))
    }

    /// Costs next to nothing.
    pub fn is_set(&self) -> bool {
        self.signal.is_set()
    }

    /// Waits for it; says whether it is set.
    pub fn wait(&self, within: Duration) -> bool {
        self.signal.wait(within)
    }

    /// Who sets this asks with [`Cause::Operator`].
    pub fn signal(&self) -> &Arc<StopSignal> {
        &self.signal
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.signal, &other.signal)
    }
}

/// The operator's switch of an agent or evaluator. It works on the task that is played now, and on
/// none when none is: what was pressed too late does not end the next task.
#[derive(Debug, Clone, Default)]
pub struct StopEvent {
    played: Arc<Mutex<Option<Stop>>>,
}

impl StopEvent {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn set(&self) {
        if let Some(stop) = &*self.played() {
            stop.ask(Cause::Operator);
        }
    }

    /// Whether the task that is played now was told to end, by whomever.
    pub fn is_set(&self) -> bool {
        self.played().as_ref().is_some_and(Stop::is_set)
    }

    /// From now on it works on this task.
    pub fn attach(&self, stop: &Stop) {
        *self.played() = Some(stop.clone());
    }

    /// This task is over. Nothing happens when it works on another one already.
    pub fn detach(&self, stop: &Stop) {
        let mut played = self.played();
        if played.as_ref().is_some_and(|played| played.is(stop)) {
            *played = None;
        }
    }

    fn played(&self) -> MutexGuard<'_, Option<Stop>> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_counts() {
        let stop = Stop::new();
        assert!(!stop.is_set() && !stop.wait(Duration::ZERO));
        assert_eq!(stop.cause(), None);
        stop.ask(Cause::Timeout);
        stop.ask(Cause::EnvEnded);
        assert!(stop.is_set() && stop.wait(Duration::MAX));
        assert_eq!(stop.cause(), Some(Cause::Timeout));
    }

    #[test]
    fn the_bare_signal_is_the_operators() {
        let stop = Stop::new();
        stop.signal().set();
        assert_eq!(stop.cause(), Some(Cause::Operator));
        stop.ask(Cause::Timeout);
        assert_eq!(stop.cause(), Some(Cause::Operator));
    }

    #[test]
    fn the_bare_signal_stays_the_operators_if_nobody_has_looked_yet() {
        let stop = Stop::new();
        stop.signal().set();
        stop.ask(Cause::Asked);
        assert_eq!(stop.cause(), Some(Cause::Operator));
    }

    #[test]
    fn a_stop_event_reaches_the_task_that_is_played_and_no_other() {
        let (event, first, second) = (StopEvent::new(), Stop::new(), Stop::new());
        event.set();
        event.attach(&first);
        assert!(!event.is_set(), "nothing was played when it was set");
        event.set();
        assert_eq!(first.cause(), Some(Cause::Operator));
        assert!(event.is_set());
        event.detach(&first);
        event.set();
        event.attach(&second);
        assert!(!event.is_set() && !second.is_set());
        // The first one's end comes late.
        event.detach(&first);
        event.set();
        assert!(second.is_set());
    }
}
