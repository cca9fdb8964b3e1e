//! A model service on this machine that answers what a test wants, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

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

type Rule = dyn Fn(&Value) -> Answer + Send + Sync;

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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Asked::default());
        let (keep, rule): (_, Arc<Rule>) = (Arc::clone(&asked), Arc::new(rule));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (keep, rule) = (Arc::clone(&keep), Arc::clone(&rule));
                std::thread::spawn(move || serve(stream, &keep, &*rule));
            }
        });
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

fn serve(mut stream: TcpStream, asked: &Asked, rule: &Rule) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1)?.lines().next()?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let answer = rule(&body);
    asked.bodies.lock().unwrap().push(body);
    asked.more.notify_all();
    let (text, finish) = match answer {
        Answer::Text(text) => (text, "stop"),
        Answer::Cut(text) => (text, "length"),
        // Until the other side is gone.
        Answer::Silence => return reader.read_to_end(&mut Vec::new()).ok().map(|_| ()),
    };
    let answer = json!({
        "id": "x", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{ "index": 0, "finish_reason": finish,
            "message": { "role": "assistant", "content": text } }],
        "usage": { "prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100 },
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + &answer).as_bytes()).ok()
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
