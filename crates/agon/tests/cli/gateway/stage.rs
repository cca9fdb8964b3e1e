//! A run of one task by one Python agent that has a model.

use agon::core::{Action, ModelCall};
use agon::prelude::EventBody;
use serde_json::{Value, json};

use crate::support::{Bench, Called};

/// What every agent here begins with: a call of the gateway, and a way to say what came of it.
const HEAD: &str = r#"
import http.client, json, os, socket, sys, time, urllib.error, urllib.request
def ask(body, path="/chat/completions", base=None, key=None):
    request = urllib.request.Request(
        (base or os.environ["OPENAI_BASE_URL"]) + path, data=json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + (key or os.environ["OPENAI_API_KEY"])})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
def hello(text="hello", **more):
    return {"messages": [{"role": "user", "content": text}], **more}
def said(answer):
    return answer[1]["choices"][0]["message"]["content"]
def do(action):
    sys.stdin.readline()
    print(json.dumps(action), flush=True)
def think(thought):
    do({"action": "think", "thought": str(thought)})
sys.stdin.readline()
"#;

const TAIL: &str = r#"
do({"action": "finish", "result": "done"})
sys.stdin.read()
"#;

pub(super) struct Stage {
    pub(super) bench: Bench,
}

impl Stage {
    pub(super) fn new() -> Self {
        let stage = Self {
            bench: Bench::new(),
        };
        stage.task(json!({}));
        stage
    }

    /// A task that is solved by finishing, with further limits.
    pub(super) fn task(&self, limits: Value) {
        let mut all = json!({ "steps": 50, "step": 120 });
        for (name, limit) in limits.as_object().unwrap() {
            all[name] = limit.clone();
        }
        let task = json!({
            "task": "Ask.",
            "limits": all,
            "checks": [{ "type": "returned_result", "equals": "done" }],
        });
        self.bench.suite(&[("asking", &task.to_string())]);
    }

    /// An agent of this code between its head and its end.
    pub(super) fn agent(&self, code: &str) {
        self.bench
            .write("agents/agent.py", &format!("{HEAD}{code}{TAIL}"));
    }

    pub(super) fn script(&self, answers: &Value) {
        self.bench.write("script.json", &answers.to_string());
    }

    pub(super) fn run(&self, kind: &str, model: &str, more: &[&str]) -> Called {
        let agent = format!("{kind}:python3 agents/agent.py");
        let mut args = vec!["--agent", &agent, "--model", model];
        args.extend(more);
        self.bench.run(&args)
    }

    fn events<T>(&self, pick: impl Fn(&EventBody) -> Option<T>) -> Vec<T> {
        let events = self.bench.reader().events(&self.bench.trial()).unwrap();
        let bodies = events.iter().map(|event| &event.body);
        bodies.filter_map(pick).collect()
    }

    /// What the agent thought aloud.
    pub(super) fn thoughts(&self) -> Vec<String> {
        self.events(|body| match body {
            EventBody::Action(Action::Think { thought }) => Some(thought.clone()),
            _ => None,
        })
    }

    pub(super) fn calls(&self) -> Vec<ModelCall> {
        self.events(|body| match body {
            EventBody::Model(call) => Some(call.clone()),
            _ => None,
        })
    }
}
