//! A service of chat completions on this machine, which notes what it was sent.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::http_service::{self, Request, Response};

pub(super) struct Service {
    pub(super) base_url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// Answers every call with `text`.
    pub(super) fn saying(text: &'static str) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let url = http_service::start(move |request| answer(&request, text, &notes));
        let base_url = format!("{url}/v1");
        Self { base_url, seen }
    }

    /// Heads and bodies of all requests.
    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(request: &Request, text: &str, notes: &Mutex<Vec<String>>) -> Response {
    let body = String::from_utf8_lossy(&request.body);
    notes
        .lock()
        .unwrap()
        .push(format!("{}{body}", request.head));
    let answer = json!({
        "id": "x", "object": "chat.completion", "created": 0, "model": "big-1",
        "choices": [{ "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": text } }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
    });
    Response::json("200 OK", &answer)
}
