//! A model service on this machine: answers chat completions, whole or streamed, and keeps what it was
//! asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A picture of one pixel.
pub(crate) const DOT: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T',
    0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 0x05, 0, 0x01, 0xff, 0x89, 0x99, 0x3d, 0x1d,
    0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

pub(crate) struct Asked {
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}

pub(crate) struct Service {
    port: u16,
    asked: Receiver<Asked>,
}

impl Service {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, asked) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let tell = tell.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &tell));
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
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

/// One request per connection.
fn serve(mut stream: TcpStream, tell: &Sender<Asked>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap() == 0 {
        return;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.unwrap().1.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let key = headers.iter().find(|(name, _)| name == "authorization");
    let key = key.map(|(_, value)| value.clone()).unwrap_or_default();
    let (status, kind, answer) = answer(&body, &key);
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    tell.send(Asked {
        path,
        headers,
        body,
    })
    .ok();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(answer.as_bytes()).unwrap();
}

fn answer(body: &Value, key: &str) -> (&'static str, &'static str, String) {
    let json = "application/json";
    if body["messages"].to_string().contains("refuse my key") {
        // Some services repeat what they were sent.
        let error = json!({"error": {"message": format!("bad header: {key}"), "type": "auth"}});
        return ("401 Unauthorized", json, error.to_string());
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
        return ("200 OK", "text/event-stream", text.concat());
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
    ("200 OK", json, whole.to_string())
}
