//! The end of a round: the agent is told to stop, the task is scored once, and the result is written
//! down before anybody is shown it. An evaluator that fails at it gets a result all the same.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, json};
use tokio::task::JoinHandle;

use super::desk::Desk;
use super::hooks::on_desktop;
use super::link::AgentLink;
use super::round::{By, Ending, Round};
use crate::report::{Record, Times};
use crate::result::{EvaluationResult, StopReason};
use crate::wire::AgentFinished;

const SCORING: Duration = Duration::from_secs(60);
/// A disk that takes longer holds nobody up.
const WRITING: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) setup: Duration,
    pub(super) play: Duration,
}

/// An agent that is told to stop.
#[derive(Debug)]
pub(super) enum Stopping {
    /// It has answered, or its time is up.
    Answered(Option<Box<AgentFinished>>),
    /// It is not waited for yet.
    Asked(JoinHandle<Option<Box<AgentFinished>>>),
}

/// Tells the agent, unless it has stopped by itself. An agent that is gone, and one whose evaluator has
/// failed, is not waited for: the result does not depend on it.
pub(super) async fn stop(agent: &AgentLink, round: &Round, ending: &Ending) -> Stopping {
    if matches!(ending.by, By::Agent(_)) {
        return Stopping::Answered(None);
    }
    let (agent, task_id) = (agent.clone(), round.task.task_id.clone());
    // On its own, so that it is told even if nobody waits for it. A server that ends waits until the
    // round is over, and with it this.
    let asked = tokio::spawn(async move {
        let told = agent.stop(&task_id).await;
        told.ok().flatten().map(Box::new)
    });
    if matches!(
        ending.reason,
        StopReason::AgentLost | StopReason::EvaluatorError
    ) {
        return Stopping::Asked(asked);
    }
    Stopping::Answered(asked.await.ok().flatten())
}

/// Scores and writes down. Called once for each round that was played.
pub(super) async fn score(
    desk: &Arc<Desk>,
    round: &Arc<Round>,
    ending: &Ending,
    clocks: Clocks,
    stopping: Stopping,
) -> (Record, Stopping) {
    let began = Instant::now();
    let note = format!(
        "{}: {} after {:.3} s of play",
        ending.reason,
        ending.detail,
        clocks.play.as_secs_f64()
    );
    let (mut result, reason, error) = if ending.reason == StopReason::EvaluatorError {
        let error = Some(ending.detail.clone());
        (unscored(round, clocks, note), ending.reason, error)
    } else {
        scored(desk, round, ending, clocks, note).await
    };
    // Whatever the evaluator made of it.
    result.task_id.clone_from(&round.task.task_id);
    let seconds = |duration: Duration| duration.as_secs_f64();
    let stats = match (&ending.by, &stopping) {
        (By::Agent(stats), _) => stats.clone(),
        (By::Us, Stopping::Answered(Some(told))) => told.stats.clone(),
        (By::Us, Stopping::Answered(None) | Stopping::Asked(_)) => None,
    };
    let record = Record {
        task_id: result.task_id,
        metrics: result.metrics,
        notes: result.notes,
        stop_reason: reason,
        error,
        times: Times {
            setup: seconds(clocks.setup),
            play: seconds(clocks.play),
            stop: seconds(began.saturating_duration_since(ending.at)),
            scoring: seconds(began.elapsed()),
        },
        stats,
    };
    (written(desk, round, record).await, stopping)
}

async fn scored(
    desk: &Arc<Desk>,
    round: &Arc<Round>,
    ending: &Ending,
    clocks: Clocks,
    note: String,
) -> (EvaluationResult, StopReason, Option<String>) {
    round.judging.set_ended(ending.reason);
    let (evaluator, theirs) = (Arc::clone(&desk.evaluator), Arc::clone(round));
    let told = note.clone();
    let hook = desk.hooks.call("score", SCORING, move || {
        on_desktop(&theirs, || {
            evaluator.score_task(&theirs.task, clocks.play, &told, &theirs.judging)
        })
    });
    match hook.await {
        Ok(result) => {
            let failed = matches!(
                ending.reason,
                StopReason::AgentError | StopReason::AgentLost
            );
            (result, ending.reason, failed.then(|| ending.detail.clone()))
        }
        Err(error) => {
            let error = format!("score_task() {error}");
            let reason = StopReason::EvaluatorError;
            let note = format!("{reason}: {error} ({note})");
            (unscored(round, clocks, note), reason, Some(error))
        }
    }
}

/// The result of a task that the evaluator could not score.
fn unscored(round: &Round, clocks: Clocks, note: String) -> EvaluationResult {
    let metrics = [
        ("task_elapsed_time", json!(clocks.play.as_secs_f64())),
        ("success", json!(false)),
        ("score", json!(-1)),
    ];
    let metrics = metrics.map(|(name, value)| (name.to_owned(), value));
    EvaluationResult {
        task_id: round.task.task_id.clone(),
        metrics: Map::from_iter(metrics),
        notes: Some(note),
    }
}

/// Into the report, if there is one. A report that can't be written is no reason to lose the result.
async fn written(desk: &Arc<Desk>, round: &Arc<Round>, record: Record) -> Record {
    let Some(report) = desk.report.clone() else {
        return record;
    };
    let (round, line) = (Arc::clone(round), record.clone());
    let looks = round.judging.take_looks();
    let writing = tokio::task::spawn_blocking(move || report.append(&round.task, &line, &looks));
    let failed = match tokio::time::timeout(WRITING, writing).await {
        Ok(Ok(Ok(()))) => return record,
        Ok(Ok(Err(error))) => error.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("it took longer than {} s", WRITING.as_secs()),
    };
    let notes = record.notes.unwrap_or_default();
    Record {
        notes: Some(format!(
            "{notes} (the report could not be written: {failed})"
        )),
        ..record
    }
}
