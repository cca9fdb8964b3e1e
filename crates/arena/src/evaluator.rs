//! The contract of an evaluator: it prepares the environment, says when it has ended, and scores. All
//! of it is plain blocking code on threads of its own; knows nothing of the wire.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::play::{StopEvent, Task};
use agon_desktop::DesktopError;

use crate::judging::Judging;
use crate::result::EvaluationResult;

pub trait Evaluator: Send + Sync + 'static {
    /// Before the agent is told to play; also brings an environment back that has ended.
    fn setup_environment(&self, task: &Task, judging: &Judging) -> Result<(), JudgeError>;

    /// Called back to back, one at a time; `false`: the environment has ended.
    fn check_env_continue(&self, _task: &Task, _judging: &Judging) -> Result<bool, JudgeError> {
        Ok(true)
    }

    /// Called every `check_env_interval_seconds`, from the beginning on. One that takes longer than that
    /// leaves beats out.
    fn check_env_continue_timer(
        &self,
        _task: &Task,
        _judging: &Judging,
    ) -> Result<bool, JudgeError> {
        Ok(true)
    }

    /// Once for each task. `elapsed` is the time of play; `note` says why it ended.
    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        judging: &Judging,
    ) -> Result<EvaluationResult, JudgeError>;

    /// Setting it stops the task that is evaluated then, as the panic key does.
    fn stop_event(&self) -> Option<StopEvent> {
        None
    }

    /// Where results are appended, unless the server was given another file.
    fn report(&self) -> Option<PathBuf> {
        None
    }
}

/// Why an evaluator could not do its work. The task ends with `evaluator_error`.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The evaluation is over: not an error of the evaluator.
    #[error("the evaluation was stopped")]
    Stopped,
    #[error("the evaluator has no desktop to look at: {0}")]
    NoDesktop(DesktopError),
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    #[error("the evidence can't be stored: {0}")]
    Evidence(std::io::Error),
    #[error("the screen can't be judged: {0}")]
    Sight(String),
    /// A model gave no answer, or none that says anything.
    #[error("the model {model} can't judge: {problem}")]
    Model { model: String, problem: String },
    /// The evaluator's own.
    #[error("{0}")]
    Evaluator(String),
}

macro_rules! through {
    ($pointer:ident) => {
        impl<E: Evaluator + ?Sized> Evaluator for $pointer<E> {
            fn setup_environment(&self, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
                (**self).setup_environment(task, judging)
            }
            fn check_env_continue(
                &self,
                task: &Task,
                judging: &Judging,
            ) -> Result<bool, JudgeError> {
                (**self).check_env_continue(task, judging)
            }
            fn check_env_continue_timer(
                &self,
                task: &Task,
                judging: &Judging,
            ) -> Result<bool, JudgeError> {
                (**self).check_env_continue_timer(task, judging)
            }
            fn score_task(
                &self,
                task: &Task,
                elapsed: Duration,
                note: &str,
                judging: &Judging,
            ) -> Result<EvaluationResult, JudgeError> {
                (**self).score_task(task, elapsed, note, judging)
            }
            fn stop_event(&self) -> Option<StopEvent> {
                (**self).stop_event()
            }
            fn report(&self) -> Option<PathBuf> {
                (**self).report()
            }
        }
    };
}

through!(Arc);
through!(Box);
