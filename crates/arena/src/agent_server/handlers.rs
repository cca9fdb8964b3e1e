//! The routes of an agent server.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::control::{Control, Stopped};
use super::machine::Asker;
use crate::wire::{AgentFinished, Payload, Routes, Token, err, ok, path, reply};

type Shared = State<Arc<Control>>;

pub(super) fn routes(control: Arc<Control>, token: Option<Token>) -> Router {
    Routes::new()
        .get(path::AGENT_STATUS, status)
        .get(path::AGENT_EVENTS, events)
        .post(path::AGENT_REGISTER_EVALUATOR, register)
        .post(path::AGENT_TASK_START, start)
        .post(path::AGENT_TASK_STOP, stop)
        .post(path::AGENT_ABORT, abort)
        .post(path::AGENT_KILL, kill)
        .post(path::AGENT_RESET, reset)
        .finish(control, token)
}

async fn status(State(control): Shared) -> Response {
    reply::json(StatusCode::OK, &control.status())
}

async fn events(State(control): Shared) -> Response {
    control.events().respond()
}

async fn register(State(control): Shared, payload: Payload) -> Response {
    let url = match payload.registration("evaluator_url") {
        Ok(url) => url,
        Err(refused) => return refused,
    };
    let message = format!("Registered evaluator at {url}");
    match control.register(url) {
        Ok(()) => ok(message),
        // Not 400: the original says 500.
        Err(refused) => err(StatusCode::INTERNAL_SERVER_ERROR, refused.to_string()),
    }
}

async fn start(State(control): Shared, payload: Payload) -> Response {
    let task = match payload.task() {
        Ok(task) => task,
        Err(refused) => return refused.into_response(),
    };
    let message = format!("Started task for environment: {}", task.env_name);
    match control.start(task) {
        Ok(()) => ok(message),
        Err(refused) => err(StatusCode::BAD_REQUEST, refused.to_string()),
    }
}

/// What may be said with `task/stop`.
#[derive(Debug, Default, Deserialize)]
struct Stop {
    /// Only this task.
    #[serde(default)]
    task_id: Option<String>,
}

async fn stop(State(control): Shared, payload: Payload) -> Response {
    let meant = payload.addition::<Stop>().unwrap_or_default().task_id;
    end(&control, Asker::Evaluator, meant.as_deref()).await
}

async fn abort(State(control): Shared) -> Response {
    end(&control, Asker::Operator, None).await
}

async fn end(control: &Control, asker: Asker, meant: Option<&str>) -> Response {
    match control.stop(asker, meant).await {
        Ok(Stopped::InTime(ended)) => stopped("Task stopped", ended),
        Ok(Stopped::Still) => {
            let text = "Task cleanup may not have completed properly";
            err(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
        Err(refused) => err(StatusCode::BAD_REQUEST, refused.to_string()),
    }
}

async fn kill(State(control): Shared) -> Response {
    match control.kill().await {
        Stopped::InTime(ended) => stopped("Agent killed", ended),
        Stopped::Still => ok(
            "Agent cut off from keyboard and screen; its code still runs, and the state is STOPPING \
             until it returns",
        ),
    }
}

async fn reset(State(control): Shared) -> Response {
    match control.reset().await {
        Ok(()) => ok("Agent reset"),
        Err(refused) => err(StatusCode::INTERNAL_SERVER_ERROR, refused.to_string()),
    }
}

/// The original's answer, and beside it how the task ended.
fn stopped(message: &str, ended: Option<AgentFinished>) -> Response {
    let mut body = json!({ "success": true, "message": message });
    if let (Value::Object(body), Ok(Value::Object(ended))) =
        (&mut body, serde_json::to_value(ended.unwrap_or_default()))
    {
        body.extend(ended);
    }
    reply::json(StatusCode::OK, &body)
}
