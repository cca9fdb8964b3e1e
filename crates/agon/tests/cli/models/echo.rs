//! A service that says everything back that it was sent, heads and all, in answers and in errors; and an
//! agent that asks it for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use crate::http_service::{self, Request, Response};
use crate::support::Bench;

pub(super) struct Echo {
    pub(super) base_url: String,
    requests: Arc<AtomicU64>,
}

impl Echo {
    pub(super) fn start() -> Self {
        let requests = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&requests);
        let url = http_service::start(move |request| {
            counter.fetch_add(1, Ordering::SeqCst);
            answer(&request)
        });
        let base_url = format!("{url}/v1");
        Self { base_url, requests }
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

fn answer(request: &Request) -> Response {
    let head = &request.head;
    let body = String::from_utf8_lossy(&request.body);
    let response = if body.contains("an error, please") {
        let error = json!({ "error": { "message": format!("I do not like {head}") } });
        Response::json("401 Unauthorized", &error)
    } else if body.contains("a page, please") {
        let page = format!("<html><body>{head}</body></html>");
        Response::new("200 OK", "text/html", page)
    } else {
        let answer = json!({
            "id": "x", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{ "index": 0, "finish_reason": "stop",
                "message": { "role": "assistant", "content": head.repeat(30) } }],
            "usage": { "prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100 },
        });
        Response::json("200 OK", &answer)
    };
    response.with("x-request-id", request.header("authorization").unwrap())
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
