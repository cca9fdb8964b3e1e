//! A service that says everything back that it was sent, heads and all, in answers and in errors; and an
//! agent that asks it for each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use crate::support::Bench;

pub(super) struct Echo {
    pub(super) base_url: String,
    requests: Arc<AtomicU64>,
}

impl Echo {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counter = Arc::clone(&counter);
                std::thread::spawn(move || serve(stream, &counter));
            }
        });
        Self { base_url, requests }
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, requests: &AtomicU64) -> Option<()> {
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
    requests.fetch_add(1, Ordering::SeqCst);
    let body = String::from_utf8_lossy(&body);
    let (status, kind, answer) = if body.contains("an error, please") {
        let error = json!({ "error": { "message": format!("I do not like {head}") } });
        ("401 Unauthorized", "application/json", error.to_string())
    } else if body.contains("a page, please") {
        let page = format!("<html><body>{head}</body></html>");
        ("200 OK", "text/html", page)
    } else {
        let answer = json!({
            "id": "x", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{ "index": 0, "finish_reason": "stop",
                "message": { "role": "assistant", "content": head.repeat(30) } }],
            "usage": { "prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100 },
        });
        ("200 OK", "application/json", answer.to_string())
    };
    let length = answer.len();
    let authorization = head
        .lines()
        .find(|line| line.to_lowercase().starts_with("authorization"))?;
    let echoed = authorization
        .split_once(": ")
        .map_or("", |(_, value)| value);
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nx-request-id: {echoed}\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n"
    );
    stream.write_all((head + &answer).as_bytes()).ok()
}

/// Asks what its task says, thinks the answer aloud, leaves it in a file and finishes with it.
const AGENT: &str = r#"
import json, os, sys, urllib.error, urllib.request
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        question = message["task"]["instruction"]
    elif message["type"] == "observation":
        body = {"model": os.environ["AGON_MODEL"], "messages": [{"role": "user", "content": question}]}
        request = urllib.request.Request(
            os.environ["OPENAI_BASE_URL"] + "/chat/completions", data=json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = response.read().decode()
        except urllib.error.HTTPError as error:
            answer = error.read().decode()
        print(answer, file=sys.stderr, flush=True)
        if question.startswith("write"):
            question = "finish"
            action = {"action": "write", "path": "answer.txt", "content": answer, "thought": answer}
        else:
            action = {"action": "finish", "result": answer, "thought": answer}
        print(json.dumps(action), flush=True)
"#;

/// Tasks, an agent and a model `echo` whose key is in the file.
pub(super) fn bench(echo: &Echo, key: &str, tasks: &[(&str, &str)]) -> Bench {
    let bench = Bench::new();
    let tasks: Vec<_> = tasks
        .iter()
        .map(|(id, question)| {
            let task = json!({
                "task": question,
                "checks": [{ "type": "returned_result", "contains": "choices" }],
            });
            (*id, task.to_string())
        })
        .collect();
    let tasks: Vec<_> = tasks
        .iter()
        .map(|(id, task)| (*id, task.as_str()))
        .collect();
    bench.suite(&tasks);
    bench.write("agents/agent.py", AGENT);
    let service = format!(
        "model = \"openai/m-1\"\nbase_url = \"{}\"\nnum_retries = 1\n",
        echo.base_url
    );
    let config = format!("[llm]\n{service}\n[llm.echo]\n{service}api_key = \"{key}\"\n");
    bench.write("config.toml", &config);
    bench
}

pub(super) const ASKER: [&str; 2] = ["--agent", "cmd:python3 agents/agent.py"];
