//! An HTTP server that does what it is told, however wrong. Every request is kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What is done with one request.
#[derive(Debug, Clone)]
pub(crate) struct Reaction {
    /// Sent as it is.
    pub(crate) bytes: Vec<u8>,
    pub(crate) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Waits for the next request on the same connection.
    Keep,
    Close,
    Reset,
    /// Keeps the connection open and says nothing more.
    Hang,
    /// Sends zeros until the client has had enough.
    Flood,
}

#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Value,
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Reaction {
    pub(crate) fn new(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Self::raw(format!("{head}\r\n{body}"), Then::Keep)
    }

    pub(crate) fn raw(bytes: impl Into<Vec<u8>>, then: Then) -> Self {
        Self {
            bytes: bytes.into(),
            then,
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(
            status,
            &[("content-type", "application/json")],
            &body.to_string(),
        )
    }

    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "error": { "message": message } }))
    }

    pub(crate) fn hello() -> Self {
        Self::json(200, &hello())
    }

    /// A stream of events, each of them written out; its end is the end of the connection.
    pub(crate) fn events(events: &[&str], then: Then) -> Self {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let events: String = events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect();
        Self::raw(format!("{head}{events}"), then)
    }
}

/// An answer of ten and five tokens.
pub(crate) fn hello() -> Value {
    json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "m-2",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "hello" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    })
}

impl Server {
    /// The first request gets the first reaction, and so on; the last one is for all others.
    pub(crate) async fn start(reactions: impl IntoIterator<Item = Reaction>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let reactions: Arc<[Reaction]> = reactions.into_iter().collect();
        let all = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, reactions) = (Arc::clone(&all), Arc::clone(&reactions));
                open.spawn(async move { serve(stream, &seen, &reactions).await });
            }
        });
        Self { url, seen, task }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Seen>>, reactions: &[Reaction]) {
    stream.set_nodelay(true).unwrap();
    let mut buffer = Vec::new();
    while let Some(request) = read(&mut stream, &mut buffer).await {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request);
            seen.len() - 1
        };
        let reaction = &reactions[number.min(reactions.len() - 1)];
        if stream.write_all(&reaction.bytes).await.is_err() {
            return;
        }
        match reaction.then {
            Then::Keep => {}
            Then::Close => return,
            Then::Reset => {
                // What was sent must have arrived before it is forgotten.
                tokio::time::sleep(Duration::from_millis(30)).await;
                stream.set_zero_linger().unwrap();
                return;
            }
            Then::Hang => std::future::pending().await,
            Then::Flood => while stream.write_all(&[b'0'; 65_536]).await.is_ok() {},
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Seen> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if buffer.len() >= end + 4 + length {
                let body = serde_json::from_slice(&buffer[end + 4..end + 4 + length]).unwrap();
                let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
                buffer.drain(..end + 4 + length);
                return Some(Seen { head, body });
            }
        }
        if stream.read_buf(buffer).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}
