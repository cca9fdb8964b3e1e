//! The routes of an evaluator server. Each only asks the desk; what takes long runs on its own.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::conduct::conduct;
use super::desk::{Desk, Found};
use super::machine::Refused;
use super::round::{By, Round};
use super::sighting::told;
use crate::result::StopReason;
use crate::wire::{AgentFinished, Payload, Routes, Token, err, ok, path, reply};

/// An agent that says it has finished is kept waiting for the result so long: it was used to find it.
const FINISHED: Duration = Duration::from_millis(500);
/// Whoever aborts or resets waits so long for the result.
const ABORTED: Duration = Duration::from_secs(2);

type Shared = State<Arc<Desk>>;

pub(super) fn router(desk: &Arc<Desk>, token: Option<Token>) -> Router {
    Routes::new()
        .get(path::EVALUATOR_STATUS, status)
        .post(path::EVALUATOR_REGISTER_AGENT, register)
        .post(path::EVALUATOR_EVALUATION_START, start)
        .post(path::EVALUATOR_AGENT_FINISHED, agent_finished)
        .get(path::EVALUATOR_EVALUATION_RESULTS, results)
        .get(path::EVALUATOR_RESULTS_OF, results_of)
        .post(path::EVALUATOR_ABORT, abort)
        .post(path::EVALUATOR_RESET, reset)
        .get(path::EVALUATOR_EVENTS, events)
        .finish(Arc::clone(desk), token)
}

async fn status(State(desk): Shared) -> Response {
    reply::json(StatusCode::OK, &desk.status())
}

async fn events(State(desk): Shared) -> Response {
    desk.events.respond()
}

async fn register(State(desk): Shared, body: Payload) -> Response {
    let url = match body.registration("agent_url") {
        Ok(url) => url,
        Err(refused) => return refused,
    };
    let message = format!("Registered agent at {url}");
    match desk.register(url).await {
        Ok(()) => ok(message),
        Err(refused) => refuse(&desk, refused),
    }
}

async fn start(State(desk): Shared, body: Payload) -> Response {
    let task = match body.task() {
        Ok(task) => task,
        Err(refused) => return refused.into_response(),
    };
    let (round, agent) = match desk.begin(&task).await {
        Ok(begun) => begun,
        Err(refused) => return refuse(&desk, refused),
    };
    let (tell, told) = oneshot::channel();
    tokio::spawn(conduct(Arc::clone(&desk), round, agent, tell));
    match told.await {
        Ok(Ok(())) => ok("Started evaluation"),
        Ok(Err(why)) => failed(&why),
        Err(_) => failed("the server is about to stop"),
    }
}

fn failed(why: &str) -> Response {
    let text = format!("Failed to start evaluation: {why}");
    err(StatusCode::INTERNAL_SERVER_ERROR, text)
}

async fn agent_finished(State(desk): Shared, body: Payload) -> Response {
    let Some((round, agent)) = desk.played_round() else {
        return not_evaluating(&desk);
    };
    let ours = &round.task.task_id;
    let finished = body.addition::<AgentFinished>().unwrap_or_default();
    let meant = match &finished.task_id {
        Some(task_id) => task_id == ours,
        // The original does not say which task it means; its status does.
        None => (agent.status().await).is_ok_and(|status| status.task_id.as_ref() == Some(ours)),
    };
    if !meant {
        let text = format!("The task that has finished is not {ours}, which is evaluated");
        return err(StatusCode::BAD_REQUEST, text);
    }
    let (reason, detail) = told(&finished);
    let first = round.end_by(By::Agent(finished.stats), reason, detail);
    if !first && desk.played_round().is_none() {
        return not_evaluating(&desk);
    }
    desk.until_decided(round.id, FINISHED).await;
    ok("Task completion acknowledged")
}

fn not_evaluating(desk: &Desk) -> Response {
    let state = desk.state().name();
    let text = format!("Evaluator not in EVALUATING state. Current state: {state}");
    err(StatusCode::BAD_REQUEST, text)
}

async fn results(State(desk): Shared) -> Response {
    match desk.last() {
        Some(result) => reply::json(StatusCode::OK, &result),
        None => reply::no_content(),
    }
}

async fn results_of(State(desk): Shared, Path(task_id): Path<String>) -> Response {
    match desk.result_of(&task_id) {
        Found::Result(record) => reply::json(StatusCode::OK, &*record),
        Found::Pending => reply::no_content(),
        Found::Unknown => err(StatusCode::NOT_FOUND, "no such task was evaluated here"),
    }
}

/// What may be said with `abort`.
#[derive(Debug, Default, Deserialize)]
struct Abort {
    /// Only this task.
    #[serde(default)]
    task_id: Option<String>,
}

async fn abort(State(desk): Shared, body: Payload) -> Response {
    let meant = body.addition::<Abort>().unwrap_or_default().task_id;
    let meant = |round: &Arc<Round>| meant.is_none_or(|id| id == round.task.task_id);
    match desk.open_round().filter(meant) {
        Some(round) => {
            if stop(&desk, &round).await {
                ok("Evaluation aborted")
            } else {
                let text = "Evaluation told to stop, but there is no result yet: ask for it later";
                err(StatusCode::INTERNAL_SERVER_ERROR, text)
            }
        }
        None => not_evaluating(&desk),
    }
}

async fn reset(State(desk): Shared) -> Response {
    if let Some(round) = desk.open_round() {
        stop(&desk, &round).await;
    }
    match desk.reset().await {
        Ok(()) => ok("Evaluator reset"),
        Err(refused) => refuse(&desk, refused),
    }
}

/// Says whether the round is decided.
async fn stop(desk: &Desk, round: &Round) -> bool {
    round.end(StopReason::Operator, "aborted by the operator");
    desk.until_decided(round.id, ABORTED).await
}

fn refuse(desk: &Desk, refused: Refused) -> Response {
    let state = desk.state().name();
    let text = match refused {
        Refused::Unregistered => format!(
            "No agent registered. Current state: {state}; register one with {}",
            path::EVALUATOR_REGISTER_AGENT
        ),
        Refused::Busy | Refused::Settling => {
            format!("Evaluator is busy with a task. Current state: {state}")
        }
    };
    err(StatusCode::BAD_REQUEST, text)
}
