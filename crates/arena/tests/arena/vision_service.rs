//! A model service of this machine that answers as the Responses API does: by the first part of the path
//! it is known what it is to say. Keeps what it was asked.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agon_arena::evaluators::{Models, ModelsError};
use agon_llm::config::{Config, ConfigSource, Environment};
use agon_llm::{Budget, Session, SessionOptions};
use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

/// A key that must not be found anywhere.
pub(super) const KEY: &str = "sk-that-nobody-may-ever-see-0123456789";

#[derive(Default)]
struct Known {
    asked: Mutex<Vec<(String, Value)>>,
    in_flight: AtomicUsize,
    most: AtomicUsize,
}

pub(super) struct Service {
    url: String,
    known: Arc<Known>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Service {
    pub(super) async fn start() -> Self {
        let known = Arc::new(Known::default());
        let router = Router::new()
            .route("/{case}/v1/responses", post(answer))
            .with_state(Arc::clone(&known));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            known,
            serving,
        }
    }

    /// A section that is asked under this name.
    pub(super) fn section(&self, case: &str, more: &str) -> String {
        section(case, &format!("{}/{case}/v1", self.url), more)
    }

    /// The bodies of a case, in their order.
    pub(super) fn asked(&self, case: &str) -> Vec<Value> {
        let asked = self.known.asked.lock().unwrap();
        let of_it = asked.iter().filter(|(of, _)| of == case);
        of_it.map(|(_, body)| body.clone()).collect()
    }

    /// How many questions were under way at the same time.
    pub(super) fn most_at_once(&self) -> usize {
        self.known.most.load(Ordering::Acquire)
    }
}

pub(super) fn section(name: &str, url: &str, more: &str) -> String {
    format!(
        "[llm.{name}]\nmodel = \"openai-responses/gpt-4o-mini\"\nbase_url = \"{url}\"\n\
         api_key = \"{KEY}\"\nnum_retries = 1\n{more}\n"
    )
}

/// What the operator allows: all sections.
pub(super) fn models(
    folder: &Path,
    config: &str,
    session: SessionOptions,
    budget: Budget,
) -> Result<Arc<Models>, ModelsError> {
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let source = ConfigSource {
        file: None,
        folder: folder.to_owned(),
        environment: Environment::default(),
    };
    let config = Config::load(&source).unwrap();
    let session = Session::open(&session).unwrap();
    Models::new(session, config, None, budget).map(Arc::new)
}

struct Flight<'a>(&'a Known);

impl<'a> Flight<'a> {
    fn begin(known: &'a Known) -> Self {
        let now = known.in_flight.fetch_add(1, Ordering::AcqRel) + 1;
        known.most.fetch_max(now, Ordering::AcqRel);
        Self(known)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn answer(
    State(known): State<Arc<Known>>,
    UrlPath(case): UrlPath<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let _flight = Flight::begin(&known);
    let scores = body.get("text").is_some();
    let earlier = {
        let mut asked = known.asked.lock().unwrap();
        let earlier = asked.iter().filter(|(of, _)| *of == case).count();
        asked.push((case.clone(), body));
        earlier
    };
    let text = match (case.as_str(), scores) {
        // The first look sees that it goes on.
        ("good", false) if earlier == 0 => "No.",
        ("maybe", false) if earlier == 0 => "I am not sure",
        ("gone", false) | ("late", false) => std::future::pending().await,
        ("broken", _) => return (StatusCode::INTERNAL_SERVER_ERROR, "no").into_response(),
        ("html", _) => return Html("<html>welcome</html>").into_response(),
        // Some services repeat what they were sent.
        ("key", _) => {
            let sent = headers["authorization"].to_str().unwrap();
            let error = json!({ "error": { "message": format!("bad header: {sent}") } });
            return (StatusCode::UNAUTHORIZED, Json(error)).into_response();
        }
        ("refuses", true) => {
            let refusal = json!({ "type": "refusal", "refusal": "I do not judge games" });
            return Json(response(&refusal)).into_response();
        }
        (_, false) => "Yes",
        ("short", true) => r#"{"score":9.5}"#,
        ("unread", true) => r#"{"score":-1}"#,
        ("prose", true) => "I can't read it",
        ("shapeless", true) => r#"{"points":12.34}"#,
        ("much", true) => r#"{"score":9512.34}"#,
        (_, true) => r#"{"score":12.34}"#,
    };
    let content = json!({ "type": "output_text", "text": text, "annotations": [] });
    Json(response(&content)).into_response()
}

fn response(content: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": "completed", "error": null,
        "model": "gpt-4o-mini-2024-07-18",
        "output": [{
            "type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [content],
        }],
        "usage": { "input_tokens": 100, "output_tokens": 2, "total_tokens": 102 },
    })
}
