//! `screen`: begins a game by its keys, sees by a text that it is over, and reads the score. What to
//! look for stands in the task's `success_criteria`.

use std::time::{Duration, Instant};

use agon_agent::play::Task;
use agon_desktop::{DesktopError, KeyCombination};
use agon_grade::sight::SightFinding;
use serde_json::json;

use super::look::{Care, look};
use super::plan::Plan;
use super::timer::result;
use crate::constants::TIMES;
use crate::env_lock::env_lock;
use crate::evaluator::{Evaluator, JudgeError};
use crate::judging::Judging;
use crate::result::{EvaluationResult, StopReason};

/// How long a game is given to begin.
const BEGINNING: Duration = Duration::from_secs(15);
/// A game that has not begun by then did not take the keys, as some do just after their end.
const AGAIN: Duration = Duration::from_secs(1);
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What can't be read is this.
pub(super) const NO_SCORE: f64 = -1.0;

#[derive(Debug, Clone, Copy)]
pub struct Screen;

impl Screen {
    fn plan(task: &Task) -> Result<Plan, JudgeError> {
        Plan::parse(&task.success_criteria).map_err(JudgeError::Evaluator)
    }
}

impl Evaluator for Screen {
    fn setup_environment(&self, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
        begin(&Self::plan(task)?, task, judging)
    }

    fn check_env_continue_timer(&self, task: &Task, judging: &Judging) -> Result<bool, JudgeError> {
        goes_on(&Self::plan(task)?, task, judging)
    }

    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        judging: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        score(&Self::plan(task)?, task, elapsed, note, judging)
    }
}

/// Makes the window active, presses the keys, and comes back when the last game's end is gone.
pub(super) fn begin(plan: &Plan, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
    let mut pressed = Instant::now();
    press(&plan.start, task, judging)?;
    if let Some(end) = &plan.end {
        let deadline = Instant::now() + BEGINNING;
        loop {
            // When it was seen, not when it was read.
            let seen = Instant::now();
            if !look(judging, &task.window_name, end, Care::Once, None)?.holds {
                break;
            }
            if seen > deadline {
                return Err(JudgeError::Evaluator(format!(
                    "the game did not begin: `{}` still shows its end",
                    task.window_name
                )));
            }
            if seen.saturating_duration_since(pressed) >= AGAIN {
                pressed = Instant::now();
                press(&plan.start, task, judging)?;
            }
            wait(judging, BETWEEN_LOOKS)?;
        }
    }
    judging.set_lead(pressed.elapsed());
    Ok(())
}

/// Makes the window active and presses keys, one combination after the other.
pub(super) fn press(
    keys: &[KeyCombination],
    task: &Task,
    judging: &Judging,
) -> Result<(), JudgeError> {
    let desktop = judging.desktop()?;
    let _alone = env_lock();
    desktop.windows().make_active(&task.window_name)?;
    let keyboard = desktop.keyboard();
    for combination in keys {
        for key in combination.keys() {
            keyboard.press(*key)?;
        }
        let held = wait(judging, TIMES::KEYBOARD_PRESS_DELAY);
        for key in combination.keys().iter().rev() {
            keyboard.release(*key)?;
        }
        held?;
    }
    Ok(())
}

pub(super) fn wait(judging: &Judging, duration: Duration) -> Result<(), JudgeError> {
    match judging.stop().wait(duration) {
        true => Err(JudgeError::Stopped),
        false => Ok(()),
    }
}

pub(super) fn goes_on(plan: &Plan, task: &Task, judging: &Judging) -> Result<bool, JudgeError> {
    let Some(end) = &plan.end else {
        return Ok(true);
    };
    match look(judging, &task.window_name, end, Care::Once, None) {
        Ok(finding) => Ok(!finding.holds),
        // Whoever closes the game has ended it.
        Err(JudgeError::Desktop(DesktopError::NoSuchWindow { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A number that can't be right is no score: it is kept apart, and the task has failed. So has one whose
/// agent failed, whatever the score.
pub(super) fn score(
    plan: &Plan,
    task: &Task,
    elapsed: Duration,
    note: &str,
    judging: &Judging,
) -> Result<EvaluationResult, JudgeError> {
    let played = elapsed + judging.lead();
    let ask = |test| {
        look(
            judging,
            &task.window_name,
            test,
            Care::Settled,
            Some(played),
        )
    };
    let finding = match (&plan.score, &plan.end) {
        (Some(score), _) => Some(ask(score)),
        (None, Some(end)) => Some(ask(end)),
        (None, None) => None,
    };
    let finding = match finding {
        Some(Err(JudgeError::Desktop(error @ DesktopError::NoSuchWindow { .. }))) => {
            let note = format!("{note} ({error})");
            return Ok(result(task, elapsed, &note, false, NO_SCORE));
        }
        Some(finding) => Some(finding?),
        None => None,
    };
    let mut result = match finding {
        Some(finding) if plan.score.is_some() => read(plan, task, elapsed, note, &finding),
        finding => {
            // Without a number on the screen the seconds of play are the score.
            let seconds = elapsed.as_secs_f64();
            let holds = finding.is_none_or(|finding| finding.holds);
            result(
                task,
                elapsed,
                note,
                holds && plan.pass.passes(seconds),
                seconds,
            )
        }
    };
    fail_with_the_agent(&mut result, judging);
    Ok(result)
}

/// An agent that failed has not succeeded, whatever the score.
pub(super) fn fail_with_the_agent(result: &mut EvaluationResult, judging: &Judging) {
    if let Some(StopReason::AgentError | StopReason::AgentLost) = judging.ended() {
        result.metrics.insert("success".to_owned(), json!(false));
    }
}

fn read(
    plan: &Plan,
    task: &Task,
    elapsed: Duration,
    note: &str,
    finding: &SightFinding,
) -> EvaluationResult {
    let disbelief = finding.disbelief();
    // Who outlasts the time has no score on the screen yet, but a number of seconds all the same.
    let alive = finding.value.is_none()
        && disbelief.is_none()
        && plan.counts_seconds()
        && elapsed >= Duration::from_secs(task.timeout);
    let (success, score) = match (finding.value, disbelief) {
        (Some(value), None) => (plan.pass.passes(value), value),
        _ if alive => (
            plan.pass.passes(elapsed.as_secs_f64()),
            elapsed.as_secs_f64(),
        ),
        _ => (false, NO_SCORE),
    };
    let mut result = result(task, elapsed, note, success, score);
    if alive {
        result.metrics.insert("alive".to_owned(), json!(true));
    }
    if let Some(confidence) = finding.confidence {
        let key = "score_confidence".to_owned();
        result.metrics.insert(key, json!(confidence));
    }
    if let Some(doubt) = disbelief {
        result
            .metrics
            .insert("misread".to_owned(), json!(finding.found));
        result.notes = Some(format!("{note} (misread: {doubt})"));
    }
    result
}
