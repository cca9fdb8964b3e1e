//! `timer`: needs no screen. Whoever plays until the time is up has succeeded.

use std::time::Duration;

use agon_agent::play::Task;
use serde_json::{Map, json};

use crate::evaluator::{Evaluator, JudgeError};
use crate::judging::Judging;
use crate::result::EvaluationResult;

#[derive(Debug, Clone, Copy)]
pub struct Timer;

impl Evaluator for Timer {
    fn setup_environment(&self, _: &Task, _: &Judging) -> Result<(), JudgeError> {
        Ok(())
    }

    /// The score is the seconds of play.
    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        _: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        let success = elapsed >= Duration::from_secs(task.timeout);
        Ok(result(task, elapsed, note, success, elapsed.as_secs_f64()))
    }
}

/// A result with the usual metrics.
pub(super) fn result(
    task: &Task,
    elapsed: Duration,
    note: &str,
    success: bool,
    score: f64,
) -> EvaluationResult {
    let metrics = [
        ("task_elapsed_time", json!(elapsed.as_secs_f64())),
        ("success", json!(success)),
        ("score", json!(score)),
    ];
    let metrics = metrics.map(|(name, value)| (name.to_owned(), value));
    EvaluationResult {
        task_id: task.task_id.clone(),
        metrics: Map::from_iter(metrics),
        notes: Some(note.to_owned()),
    }
}
