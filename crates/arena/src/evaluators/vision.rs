//! `vision`: the seed's evaluator as it was. A model is shown the window and asked two questions: is it
//! over, and what is the score? A model that does not answer is an error, never a score.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_agent::play::Task;
use agon_core::sight::Look;
use agon_desktop::DesktopError;
use serde_json::json;

use super::asking::{Answer, Patience, ask, shortened};
use super::models::{Chosen, Models};
use super::questions::{Questions, Score, end_request, score, score_request, yes};
use super::screen::{BETWEEN_LOOKS, NO_SCORE, fail_with_the_agent, press, wait};
use super::timer::result;
use crate::evaluator::{Evaluator, JudgeError};
use crate::judging::Judging;
use crate::result::EvaluationResult;

/// A window that shows the end of the last game is given so long to take the keys.
const BEGINNING: Duration = Duration::from_secs(1);
/// Clocks of games and ours may differ by so many seconds.
const SLACK: f64 = 1.0;

#[derive(Debug)]
pub struct Vision {
    models: Arc<Models>,
    /// The last task that was set up.
    examined: Mutex<Option<Arc<Examined>>>,
}

/// A task with its questions and the model that answers them.
#[derive(Debug)]
struct Examined {
    task_id: String,
    questions: Questions,
    chosen: Chosen,
}

impl Vision {
    pub const fn new(models: Arc<Models>) -> Self {
        Self {
            models,
            examined: Mutex::new(None),
        }
    }

    fn examined(&self, task: &Task) -> Result<Arc<Examined>, JudgeError> {
        let examined = self.examined.lock().unwrap_or_else(PoisonError::into_inner);
        let own = examined
            .as_ref()
            .filter(|known| known.task_id == task.task_id);
        // Of a task that is over: another one is examined already.
        own.cloned().ok_or(JudgeError::Stopped)
    }
}

impl Evaluator for Vision {
    fn setup_environment(&self, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
        let questions = Questions::of(task)?;
        let chosen = self.models.choose(questions.model.as_deref());
        let examined = Examined {
            task_id: task.task_id.clone(),
            chosen: chosen.map_err(JudgeError::Evaluator)?,
            questions,
        };
        begin(&examined.questions, task, judging)?;
        let mut last = self.examined.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Arc::new(examined));
        Ok(())
    }

    fn check_env_continue_timer(&self, task: &Task, judging: &Judging) -> Result<bool, JudgeError> {
        let Examined {
            questions, chosen, ..
        } = &*self.examined(task)?;
        let answer = ask(
            &self.models,
            chosen,
            judging,
            &task.window_name,
            &questions.end,
            end_request,
            Patience::UntilStopped,
        );
        let answer = match answer {
            // Whoever closes the game has ended it.
            Err(JudgeError::Desktop(DesktopError::NoSuchWindow { .. })) => return Ok(false),
            answer => answer?,
        };
        let over = yes(&answer.text);
        let doubt = over.is_none().then(|| "neither yes nor no".to_owned());
        let over = over.unwrap_or_default();
        judging.keep(look(&questions.end, over, None, doubt, answer))?;
        Ok(!over)
    }

    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        judging: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        let examined = self.examined(task)?;
        let Examined {
            questions, chosen, ..
        } = &*examined;
        let answer = ask(
            &self.models,
            chosen,
            judging,
            &task.window_name,
            &questions.score,
            score_request,
            Patience::ToTheEnd,
        );
        let answer = match answer {
            Err(JudgeError::Desktop(error @ DesktopError::NoSuchWindow { .. })) => {
                let note = format!("{note} ({error})");
                return Ok(result(task, elapsed, &note, false, NO_SCORE));
            }
            answer => answer?,
        };
        let read = score(&answer.text).map_err(|problem| JudgeError::Model {
            model: chosen.model.spec().name.clone(),
            problem,
        })?;
        let played = (elapsed + judging.lead()).as_secs_f64();
        let verdict = Verdict::of(read, questions, played);
        let look = look(
            &questions.score,
            verdict.success,
            verdict.value,
            verdict.doubt.clone(),
            answer,
        );
        let mut result = result(task, elapsed, note, verdict.success, verdict.score);
        if let Some(doubt) = verdict.doubt {
            let key = "misread".to_owned();
            result.metrics.insert(key, json!(shortened(&look.found)));
            result.notes = Some(format!("{note} (misread: {doubt})"));
        }
        judging.keep(look)?;
        fail_with_the_agent(&mut result, judging);
        Ok(result)
    }
}

/// Presses the keys, and gives the window a moment to take them. No model is asked: the game would go on
/// without its player meanwhile.
fn begin(questions: &Questions, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
    if questions.start.is_empty() {
        return press(&[], task, judging);
    }
    let before = judging.window_frame(&task.window_name)?;
    let pressed = Instant::now();
    press(&questions.start, task, judging)?;
    while pressed.elapsed() < BEGINNING && judging.window_frame(&task.window_name)? == before {
        wait(judging, BETWEEN_LOOKS)?;
    }
    judging.set_lead(pressed.elapsed());
    Ok(())
}

/// What an answer comes to.
struct Verdict {
    /// As it goes into the result.
    score: f64,
    /// As it was read.
    value: Option<f64>,
    success: bool,
    /// Why there is no score though something was said.
    doubt: Option<String>,
}

impl Verdict {
    fn of(read: Score, questions: &Questions, played: f64) -> Self {
        let none = |value, doubt| Self {
            score: NO_SCORE,
            value,
            success: false,
            doubt,
        };
        match read {
            Score::Read(value) if questions.within_play && value > played + SLACK => none(
                Some(value),
                Some(format!(
                    "{value} seconds can't be right: {played:.2} were played"
                )),
            ),
            Score::Read(value) => Self {
                score: value,
                value: Some(value),
                success: questions.pass.passes(value),
                doubt: None,
            },
            Score::Missing => none(None, None),
            Score::Unreadable => none(None, Some("the answer is no JSON".to_owned())),
        }
    }
}

fn look(
    question: &str,
    holds: bool,
    value: Option<f64>,
    doubt: Option<String>,
    answer: Answer,
) -> Look {
    Look {
        test: question.to_owned(),
        holds,
        found: shortened(&answer.text),
        value,
        confidence: None,
        doubt,
        picture: answer.picture,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn verdict(read: Score, criteria: Value) -> (f64, bool, bool) {
        let task = json!({
            "task_id": "a", "env_name": "e", "window_name": "w", "task_description": "d",
            "timeout": 5, "success_criteria": criteria,
        });
        let questions = Questions::of(&serde_json::from_value(task).unwrap()).unwrap();
        let verdict = Verdict::of(read, &questions, 10.0);
        (verdict.score, verdict.success, verdict.doubt.is_some())
    }

    #[test]
    fn success_is_more_than_was_asked_for() {
        let ten = json!({ "time_survived": 10 });
        assert_eq!(
            verdict(Score::Read(10.01), ten.clone()),
            (10.01, true, false)
        );
        assert_eq!(
            verdict(Score::Read(10.0), ten.clone()),
            (10.0, false, false)
        );
        assert_eq!(verdict(Score::Missing, ten.clone()), (-1.0, false, false));
        assert_eq!(verdict(Score::Unreadable, ten), (-1.0, false, true));
    }

    #[test]
    fn seconds_that_were_not_played_are_no_score() {
        let within = json!({ "score_within_play": true });
        assert_eq!(
            verdict(Score::Read(95.26), within.clone()),
            (-1.0, false, true)
        );
        assert_eq!(verdict(Score::Read(10.9), within), (10.9, true, false));
        assert_eq!(verdict(Score::Read(95.26), json!({})), (95.26, true, false));
    }
}
