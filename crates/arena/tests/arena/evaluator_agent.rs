//! A real agent server as the original's, with the faults that a task asks for in its criteria. It runs
//! on a runtime of its own, so that it can die and come back.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::evaluator_support::until;

/// What it does, by `success_criteria.agent`, after `success_criteria.agent_ms`:
/// `play` on until it is stopped; `finish` and say so as the original does; `crash` without a word;
/// `die` with all connections; `mumble` an answer to the start that breaks off, and play. A start is
/// answered after `success_criteria.answer_ms`.
pub(super) struct FakeAgent {
    address: SocketAddr,
    pub(super) seen: Arc<Seen>,
    runtime: Mutex<Option<Runtime>>,
}

#[derive(Default)]
pub(super) struct Seen {
    play: Mutex<Playing>,
    /// Answers nothing any more, but keeps connections.
    mute: Mutex<bool>,
    /// So many looks at its status fail.
    failing_looks: Mutex<u32>,
    stop: Notify,
    died: Notify,
    pub(super) starts: Mutex<u32>,
    /// When each stop came.
    pub(super) stops: Mutex<Vec<Instant>>,
    /// What was sent with each.
    pub(super) stop_bodies: Mutex<Vec<Value>>,
}

#[derive(Default)]
struct Playing {
    state: &'static str,
    task: Value,
    evaluator: String,
}

impl FakeAgent {
    /// Ready, as if the evaluator had been registered.
    pub(super) fn start(evaluator: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let agent = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            runtime: Mutex::new(None),
        };
        {
            let mut play = agent.seen.play.lock().unwrap();
            play.state = "READY";
            play.evaluator = evaluator.to_owned();
        }
        agent.serve(listener);
        agent
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// As a process that is gone.
    pub(super) fn die(&self) {
        if let Some(runtime) = self.runtime.lock().unwrap().take() {
            runtime.shutdown_background();
        }
    }

    /// A new one at the same place.
    pub(super) async fn come_back(&self) {
        self.die();
        self.seen.play.lock().unwrap().state = "READY";
        // The port is free when all of the old one is gone.
        self.serve(until(async |()| TcpListener::bind(self.address).ok()).await);
    }

    pub(super) async fn died(&self) {
        self.seen.died.notified().await;
    }

    pub(super) fn fall_silent(&self) {
        *self.seen.mute.lock().unwrap() = true;
    }

    pub(super) fn state(&self) -> &'static str {
        self.seen.play.lock().unwrap().state
    }

    /// Plays on, but for somebody else.
    pub(super) fn play_other(&self, id: &str) {
        self.seen.play.lock().unwrap().task = json!({ "task_id": id });
    }

    pub(super) fn forget_task(&self) {
        self.seen.play.lock().unwrap().task = Value::Null;
    }

    pub(super) fn stops(&self) -> Vec<Instant> {
        self.seen.stops.lock().unwrap().clone()
    }

    fn serve(&self, listener: TcpListener) {
        listener.set_nonblocking(true).unwrap();
        let runtime = Runtime::new().unwrap();
        let app = Router::new()
            .route("/agent/status", get(status))
            .route("/agent/task/start", post(start))
            .route("/agent/task/stop", post(stop))
            .with_state(Arc::clone(&self.seen));
        runtime.spawn(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, app).await
        });
        *self.runtime.lock().unwrap() = Some(runtime);
    }
}

impl Drop for FakeAgent {
    fn drop(&mut self) {
        self.die();
    }
}

async fn hang_if_mute(seen: &Seen) {
    let mute = *seen.mute.lock().unwrap();
    if mute {
        std::future::pending::<()>().await;
    }
}

async fn status(State(seen): State<Arc<Seen>>) -> Response {
    hang_if_mute(&seen).await;
    let failing = {
        let mut left = seen.failing_looks.lock().unwrap();
        let failing = *left > 0;
        *left = left.saturating_sub(1);
        failing
    };
    if failing {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let play = seen.play.lock().unwrap();
    Json(json!({ "state": play.state, "current_task": play.task })).into_response()
}

async fn start(State(seen): State<Arc<Seen>>, Json(task): Json<Value>) -> Response {
    hang_if_mute(&seen).await;
    *seen.starts.lock().unwrap() += 1;
    {
        let mut play = seen.play.lock().unwrap();
        if play.state != "READY" {
            let text = json!({ "success": false, "error": format!("state {}", play.state) });
            return (StatusCode::BAD_REQUEST, Json(text)).into_response();
        }
        play.state = "RUNNING";
        play.task = task.clone();
    }
    let delay = task["success_criteria"]["answer_ms"].as_u64().unwrap_or(0);
    let mumbles = task["success_criteria"]["agent"] == "mumble";
    tokio::spawn(run(seen, task));
    tokio::time::sleep(Duration::from_millis(delay)).await;
    if mumbles {
        let broken =
            futures_util::stream::iter([Ok("{"), Err(std::io::Error::other("the line is bad"))]);
        return Body::from_stream(broken).into_response();
    }
    Json(json!({ "success": true, "message": "started" })).into_response()
}

async fn run(seen: Arc<Seen>, task: Value) {
    let criteria = &task["success_criteria"];
    let after = Duration::from_millis(criteria["agent_ms"].as_u64().unwrap_or(0));
    match criteria["agent"].as_str().unwrap_or("play") {
        "finish" => {
            tokio::time::sleep(after).await;
            finish(&seen).await;
            let failing = criteria["failing_looks"].as_u64().unwrap_or(0);
            *seen.failing_looks.lock().unwrap() = u32::try_from(failing).unwrap();
            // The original is RUNNING until its evaluator has answered, and a little longer.
            let rest = criteria["rest_ms"].as_u64().unwrap_or(20);
            tokio::time::sleep(Duration::from_millis(rest)).await;
        }
        "crash" => tokio::time::sleep(after).await,
        "die" => {
            tokio::time::sleep(after).await;
            seen.died.notify_one();
            std::future::pending::<Infallible>().await;
        }
        _ => {
            seen.stop.notified().await;
            // A step that takes long.
            tokio::time::sleep(after).await;
        }
    }
    seen.play.lock().unwrap().state = "READY";
}

async fn finish(seen: &Seen) {
    let evaluator = seen.play.lock().unwrap().evaluator.clone();
    let url = format!("{evaluator}/evaluator/agent_finished");
    // The original only logs what comes back.
    let _ = agon_llm::plain_http()
        .build()
        .unwrap()
        .post(url)
        .send()
        .await;
}

async fn stop(State(seen): State<Arc<Seen>>, body: Bytes) -> Response {
    let said = serde_json::from_slice(&body).unwrap_or(Value::Null);
    seen.stop_bodies.lock().unwrap().push(said);
    seen.stops.lock().unwrap().push(Instant::now());
    hang_if_mute(&seen).await;
    {
        let mut play = seen.play.lock().unwrap();
        if play.state != "RUNNING" {
            let text = json!({ "success": false, "error": "nothing to stop" });
            return (StatusCode::BAD_REQUEST, Json(text)).into_response();
        }
        play.state = "STOPPING";
    }
    seen.stop.notify_one();
    for _ in 0..200 {
        if seen.play.lock().unwrap().state == "READY" {
            return Json(json!({ "success": true, "message": "stopped" })).into_response();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let text = json!({ "success": false, "error": "still running" });
    (StatusCode::INTERNAL_SERVER_ERROR, Json(text)).into_response()
}
