//! `hexagon`: the seed's evaluator. Its two questions, "is PRESS SPACE TO RETRY visible?" and "what is
//! the score next to LAST?", are answered by reading the window; `vision` asks a model, as the seed did.

use std::time::Duration;

use agon_agent::play::Task;
use agon_core::sight::NumberForm;
use agon_desktop::{Key, KeyCombination};

use super::plan::{Criteria, Plan, number, shows};
use super::screen::{begin, goes_on, score};
use crate::evaluator::{Evaluator, JudgeError};
use crate::judging::Judging;
use crate::result::EvaluationResult;

const OVER: &str = "PRESS SPACE TO RETRY";
const SCORE: &str = "LAST";

#[derive(Debug, Clone, Copy)]
pub struct Hexagon;

fn plan(task: &Task) -> Result<Plan, JudgeError> {
    let form = NumberForm::SecondsHundredths;
    let pass = Criteria(&task.success_criteria).pass();
    Ok(Plan {
        start: vec![KeyCombination::from(Key::Space)],
        end: Some(shows(OVER.to_owned(), None)),
        score: Some(number(Some(SCORE.to_owned()), form, None, true)),
        pass: pass.map_err(JudgeError::Evaluator)?,
    })
}

impl Evaluator for Hexagon {
    fn setup_environment(&self, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
        begin(&plan(task)?, task, judging)
    }

    fn check_env_continue_timer(&self, task: &Task, judging: &Judging) -> Result<bool, JudgeError> {
        goes_on(&plan(task)?, task, judging)
    }

    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        judging: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        score(&plan(task)?, task, elapsed, note, judging)
    }
}
