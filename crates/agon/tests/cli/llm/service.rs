//! A model service on this machine: answers chat completions, whole or streamed, and keeps what it was
//! asked.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_service::{self, Request, Response};

/// A picture of one pixel.
pub(crate) const DOT: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T',
    0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 0x05, 0, 0x01, 0xff, 0x89, 0x99, 0x3d, 0x1d,
    0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

pub(crate) struct Asked {
    request: Request,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn path(&self) -> &str {
        self.request.path()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.request.header(name)
    }
}

pub(crate) struct Service {
    url: String,
    asked: Receiver<Asked>,
}

impl Service {
    pub(crate) fn start() -> Self {
        let (tell, asked) = channel();
        let url = http_service::start(move |request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let answer = answer(&body, request.header("authorization").unwrap_or_default());
            tell.send(Asked { request, body }).ok();
            answer
        });
        Self { url, asked }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// An address where nobody answers.
    pub(crate) fn closed() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }

    pub(crate) fn next(&self) -> Asked {
        self.asked.recv_timeout(Duration::from_secs(30)).unwrap()
    }
}

fn answer(body: &Value, key: &str) -> Response {
    if body["messages"].to_string().contains("refuse my key") {
        // Some services repeat what they were sent.
        let error = json!({"error": {"message": format!("bad header: {key}"), "type": "auth"}});
        return Response::json("401 Unauthorized", &error);
    }
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6});
    if body["stream"] == true {
        let piece = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            let event = json!({"id": "c", "object": "chat.completion.chunk", "model": "tiny",
                "choices": [choice]});
            format!("data: {event}\n\n")
        };
        let text = [
            piece(json!({"role": "assistant", "content": "po"}), Value::Null),
            piece(json!({"content": "ng"}), Value::Null),
            piece(json!({}), json!("stop")),
            format!(
                "data: {}\n\n",
                json!({"id": "c", "model": "tiny", "choices": [], "usage": usage})
            ),
            "data: [DONE]\n\n".to_owned(),
        ];
        return Response::new("200 OK", "text/event-stream", text.concat());
    }
    let content = match body.get("response_format") {
        Some(_) => r#"{"a":"b"}"#,
        None => "pong",
    };
    let whole = json!({
        "id": "c", "object": "chat.completion", "model": "tiny", "usage": usage,
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": content}}],
    });
    Response::json("200 OK", &whole)
}
