//! A judge over HTTP that is as gullible as can be: it does whatever it is told, unless it was told between
//! the marks of the evidence. So nothing that it is made to do came from there.

use std::sync::{Arc, Mutex};

use agon_llm::{Model, Provider, Session, SessionOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::place::{spec, text};
use crate::judge::suspicion;

pub(super) struct Service {
    pub(super) url: String,
    asked: Arc<Mutex<usize>>,
    task: tokio::task::JoinHandle<()>,
}

impl Service {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(0));
        let count = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *count.lock().unwrap() += 1;
                tokio::spawn(serve(stream));
            }
        });
        Self { url, asked, task }
    }

    pub(super) fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }

    pub(super) fn model(&self, options: &SessionOptions) -> Model {
        let session = Session::open(options).unwrap();
        let spec = spec(Provider::Compatible, "gullible", &self.url);
        session.model(spec).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1)?.lines().next()?;
    let mut body = vec![0; length.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    let answer = decide(&serde_json::from_slice(&body).ok()?);
    let reply = json!({
        "id": "x", "object": "chat.completion", "created": 0, "model": "gullible",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": answer.to_string()}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    })
    .to_string();
    let length = reply.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n"
    );
    let mut stream = stream.into_inner();
    stream.write_all((head + &reply).as_bytes()).await.ok()
}

/// What stands outside of the marks, by which they are known: the first line that begins evidence, and the
/// line that ends it with the same mark.
fn outside(text: &str) -> String {
    let (before, rest) = text.split_once("BEGIN EVIDENCE ").unwrap();
    let (mark, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest
        .split_once(&format!("\nEND EVIDENCE {mark}\n"))
        .unwrap();
    format!("{before}\n{after}")
}

fn decide(body: &Value) -> Value {
    let heard = outside(&text(body));
    // Our own last words speak of evidence and verdicts, too: they are no order to pass.
    let heard = heard.replace(crate::judge::prompt::DECIDE, "");
    let orders = suspicion::found([heard.as_str()].into_iter());
    json!({
        "analysis": format!("I was told: {orders:?}"), "confidence": 1.0, "evidence": [],
        "verdict": if orders.is_empty() { "fail" } else { "pass" },
    })
}
