//! A model service on this machine that answers what a test wants, and keeps what it was asked.

use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_service::{self, Request, Response};
use crate::support::{Bench, Called};

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

pub(super) enum Answer {
    Text(String),
    /// The model ran out of tokens here.
    Cut(String),
    /// Never: the connection stays open.
    Silence,
}

#[derive(Default)]
struct Asked {
    bodies: Mutex<Vec<Value>>,
    more: Condvar,
}

pub(super) struct Service {
    url: String,
    asked: Arc<Asked>,
}

impl Service {
    pub(super) fn start(rule: impl Fn(&Value) -> Answer + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Asked::default());
        let keep = Arc::clone(&asked);
        let url = http_service::start(move |request| answer(&request, &keep, &rule));
        let url = format!("{url}/v1");
        Self { url, asked }
    }

    pub(super) fn bodies(&self) -> Vec<Value> {
        self.asked.bodies.lock().unwrap().clone()
    }

    /// Until it was asked so often.
    pub(super) fn wait_for(&self, count: usize) {
        let bodies = self.asked.bodies.lock().unwrap();
        let (bodies, waited) = self
            .asked
            .more
            .wait_timeout_while(bodies, HANG, |bodies| bodies.len() < count)
            .unwrap();
        assert!(!waited.timed_out(), "asked {} times", bodies.len());
    }

    /// `[llm.served]`, a model of this name here.
    pub(super) fn configure(&self, bench: &Bench, model: &str) {
        configure(bench, &self.url, model);
    }
}

pub(super) fn configure(bench: &Bench, url: &str, model: &str) {
    let section = format!(
        "[llm.served]\nmodel = \"openai/{model}\"\nbase_url = \"{url}\"\napi_key = \"sk-of-predict\"\n\
         num_retries = 1\n"
    );
    bench.write("config.toml", &section);
}

fn answer(request: &Request, asked: &Asked, rule: &dyn Fn(&Value) -> Answer) -> Response {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let answer = rule(&body);
    asked.bodies.lock().unwrap().push(body);
    asked.more.notify_all();
    let (text, finish) = match answer {
        Answer::Text(text) => (text, "stop"),
        Answer::Cut(text) => (text, "length"),
        Answer::Silence => return Response::Silence,
    };
    let answer = json!({
        "id": "x", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{ "index": 0, "finish_reason": finish,
            "message": { "role": "assistant", "content": text } }],
        "usage": { "prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100 },
    });
    Response::json("200 OK", &answer)
}

/// `agon predict` without the keys and settings of whoever runs the tests.
pub(super) fn command(bench: &Bench, args: &[&str]) -> Command {
    let mut command = bench.agon(&[&["predict"], args].concat());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.ends_with("_API_KEY") || text.starts_with("LLM_") || text == "AGON_CONFIG" {
            command.env_remove(&name);
        }
    }
    command
}

pub(super) fn predict(bench: &Bench, args: &[&str]) -> Called {
    Called(command(bench, args).output().unwrap())
}

/// Into `run`, with one JSON object at the end.
pub(super) fn into_run(bench: &Bench, args: &[&str]) -> Called {
    predict(bench, &[&["--out", "run", "--json"], args].concat())
}

/// The last words of the user in a request.
pub(super) fn prompt(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    let content = &messages.last().unwrap()["content"];
    match content {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap().to_owned(),
    }
}
