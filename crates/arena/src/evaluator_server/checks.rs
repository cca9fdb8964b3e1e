//! The threads that watch the environment while an agent plays: one for the checks back to back, one
//! for those with a beat, one for the operator. Each ends with its round, and a check that comes back
//! late ends nothing but its own round.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent::play::{Cause, Task};
use agon_desktop::{Key, PanicKey};

use super::hooks::{HookError, Hooks, caught, on_desktop};
use super::round::Round;
use crate::constants::TIMES;
use crate::evaluator::{Evaluator, JudgeError};
use crate::judging::Judging;
use crate::result::StopReason;

/// Starts both checks; a thread that can't be started ends the round.
pub(super) fn start(hooks: &Hooks, round: &Arc<Round>, evaluator: &Arc<dyn Evaluator>) {
    let (theirs, judge) = (Arc::clone(round), Arc::clone(evaluator));
    let steady = hooks.spawn("check", move || back_to_back(&theirs, &*judge));
    let (theirs, judge) = (Arc::clone(round), Arc::clone(evaluator));
    let timed = hooks.spawn("timer-check", move || timed(&theirs, &*judge));
    if let Err(error) = steady.and(timed) {
        let why = format!("no thread could be started for the checks: {error}");
        round.end(StopReason::EvaluatorError, why);
    }
}

fn back_to_back(round: &Round, evaluator: &dyn Evaluator) {
    while !round.stop().is_set() {
        let check = |task: &Task, judging: &Judging| evaluator.check_env_continue(task, judging);
        if !goes_on(round, "check_env_continue", check) {
            return;
        }
        round.stop().wait(TIMES::BUSY_WAIT_PREVENT_EVALUATOR);
    }
}

fn timed(round: &Round, evaluator: &dyn Evaluator) {
    let interval = Duration::try_from_secs_f64(round.task.check_env_interval_seconds);
    let interval = interval
        .unwrap_or(Duration::MAX)
        .max(Duration::from_millis(1));
    let began = Instant::now();
    while !round.stop().is_set() {
        let check =
            |task: &Task, judging: &Judging| evaluator.check_env_continue_timer(task, judging);
        if !goes_on(round, "check_env_continue_timer", check) {
            return;
        }
        // The next beat that is not over: a slow check leaves some out.
        round.stop().wait(until_beat(began.elapsed(), interval));
    }
}

fn until_beat(elapsed: Duration, interval: Duration) -> Duration {
    let into = elapsed.as_nanos() % interval.as_nanos().max(1);
    let into = Duration::from_nanos(u64::try_from(into).unwrap_or(u64::MAX));
    interval.saturating_sub(into)
}

fn goes_on(
    round: &Round,
    name: &str,
    check: impl FnOnce(&Task, &Judging) -> Result<bool, JudgeError>,
) -> bool {
    match caught(|| on_desktop(round, || check(&round.task, &round.judging))) {
        Ok(true) => return true,
        Ok(false) => round.end(
            StopReason::EnvEnded,
            format!("{name}() saw that the environment has ended"),
        ),
        // Whoever asked for the stop says why.
        Err(HookError::Stopped) if round.stop().is_set() => return false,
        Err(error) => round.end(StopReason::EvaluatorError, format!("{name}() {error}")),
    };
    false
}

/// Waits for the panic key, for the evaluator's stop event and for whoever else has the round's stop.
/// It ends with its round.
pub(super) fn watch_operator(hooks: &Hooks, round: &Arc<Round>, key: Option<PanicKey>) {
    let theirs = Arc::clone(round);
    let watched = hooks.spawn("operator", move || {
        theirs.stop().wait(Duration::MAX);
        let (reason, who) = match theirs.stop().cause() {
            Some(Cause::Timeout) => (StopReason::Timeout, "the evaluator asked for it"),
            Some(Cause::EnvEnded) => (StopReason::EnvEnded, "the evaluator asked for it"),
            Some(Cause::Asked | Cause::Operator) | None => {
                (StopReason::Operator, "stopped by the operator")
            }
        };
        theirs.end(reason, who);
        drop(key);
    });
    if let Err(error) = watched {
        let why = format!("no thread could be started to watch for the operator: {error}");
        round.end(StopReason::EvaluatorError, why);
    }
}

/// The panic key of the judged desktop, where there is one. Without a desktop of its own the evaluator
/// goes on without; with one, it does not.
pub(super) fn panic_key(round: &Round, key: Option<Key>) -> Result<Option<PanicKey>, JudgeError> {
    let Some(key) = key else {
        return Ok(None);
    };
    let watch = || {
        let desktop = round.judging.desktop()?;
        Ok(PanicKey::watch(
            &desktop,
            key,
            Arc::clone(round.stop().signal()),
        )?)
    };
    match watch() {
        Ok(watching) => Ok(Some(watching)),
        Err(_) if !round.judging.has_display() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use agon_agent::play::Stop;
    use serde_json::json;

    use super::*;
    use crate::evaluator_server::machine::Machine;

    fn round() -> Round {
        let mut machine = Machine::new();
        machine.register().unwrap();
        let task = json!({
            "task_id": "a", "env_name": "e", "window_name": "w", "task_description": "d",
            "timeout": 5, "success_criteria": {}
        });
        let task = serde_json::from_value(task).unwrap();
        Round::new(
            machine.begin().unwrap(),
            task,
            Judging::new(None, Stop::new(), None),
        )
    }

    #[test]
    fn a_check_that_sees_the_stop_leaves_the_reason_to_whoever_asked_for_it() {
        let round = round();
        let stopped = |_: &Task, _: &Judging| Err(JudgeError::Stopped);
        round.stop().signal().set();
        assert!(!goes_on(&round, "check", stopped));
        assert!(round.ending().is_none());
        // But nobody else may say that it was stopped.
        let round = self::round();
        assert!(!goes_on(&round, "check", stopped));
        let ending = round.ending().unwrap();
        assert_eq!(ending.reason, StopReason::EvaluatorError);
    }

    #[test]
    fn a_slow_check_leaves_beats_out() {
        let ms = Duration::from_millis;
        assert_eq!(until_beat(ms(0), ms(100)), ms(100));
        assert_eq!(until_beat(ms(30), ms(100)), ms(70));
        assert_eq!(until_beat(ms(250), ms(100)), ms(50));
        assert_eq!(until_beat(ms(5), Duration::MAX), Duration::MAX - ms(5));
    }
}
