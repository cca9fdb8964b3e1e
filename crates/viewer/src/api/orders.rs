//! What people say: reviews and orders, the only things that are written to a run folder. Both are appended,
//! so that nothing is lost when several speak at once.

use agon_core::TaskId;
use agon_store::{
    LONGEST_COMMENT, Order, Request, Review, Reviews, RunningAttempt, played_in, running, standing,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::ViewerError;
use crate::library::Run;
use crate::serve::{self, App, Reply};
use crate::shape::{ReviewCard, ReviewOrder, StopOrder, TrialKey};

/// Whoever plays the run has been asked; he may take a moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Asked {
    asked: bool,
}

pub(crate) fn review(app: &App, asked: &serve::Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let order: ReviewOrder = asked.body()?;
    let key = &order.trial;
    task(key)?;
    if order.comment.chars().count() > LONGEST_COMMENT {
        return Err(ViewerError::BadRequest(format!(
            "the comment is too long: {LONGEST_COMMENT} characters at most"
        )));
    }
    let line = run.line(key)?.ok_or_else(|| {
        ViewerError::NotFound(format!("{} has no such attempt that has ended", key.task))
    })?;
    if !line.is_final {
        return Err(ViewerError::BadRequest(format!(
            "attempt {} at {} does not count: review the one that does",
            key.attempt, key.task
        )));
    }
    let now = app.clock.now();
    Review::of(&line, order.verdict, &order.comment, &order.reviewer, now).append(run.folder())?;
    let reviews = Reviews::read(run.folder())?;
    let history = reviews.of(&line.task, line.epoch, played_in(&line));
    Reply::json(&ReviewCard {
        standing: standing(history).cloned(),
        history: history.to_vec(),
        possible: true,
    })
}

pub(crate) fn stop(app: &App, asked: &serve::Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let order: StopOrder = asked.body()?;
    let key = &order.trial;
    let task = task(key)?;
    let Some(playing) = playing(&run, key, &task)? else {
        return Err(ViewerError::BadRequest(format!(
            "attempt {} at {} (epoch {}) is not being played",
            key.attempt, key.task, key.epoch
        )));
    };
    if order.began.is_some_and(|began| began != playing.began) {
        return Err(ViewerError::BadRequest(format!(
            "attempt {} at {} (epoch {}) began anew at {}: load the page again to stop that one",
            key.attempt, key.task, key.epoch, playing.began
        )));
    }
    let request = Request {
        at: app.clock.now(),
        order: Order::Stop,
        task,
        epoch: key.epoch,
        attempt: key.attempt,
        began: order.began,
        by: order.by,
    };
    request.append(run.folder())?;
    Reply::json(&Asked { asked: true })
}

fn task(key: &TrialKey) -> Result<TaskId, ViewerError> {
    TaskId::parse(&key.task).map_err(|error| ViewerError::BadRequest(error.to_string()))
}

/// As far as the run folder tells: the process that plays it looks again.
fn playing(
    run: &Run,
    key: &TrialKey,
    task: &TaskId,
) -> Result<Option<RunningAttempt>, ViewerError> {
    if !run.folder().is_written() || run.line(key)?.is_some() {
        return Ok(None);
    }
    let (mut attempts, _) = running(run.folder(), 0)?;
    attempts.retain(|attempt| {
        attempt.task == *task && attempt.epoch == key.epoch && attempt.attempt == key.attempt
    });
    Ok(attempts.pop())
}
