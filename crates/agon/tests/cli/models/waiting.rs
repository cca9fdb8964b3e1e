//! A service that says nothing, or only that it is busy, until the agent's step is over: that is no
//! failure of the agent. One that wastes its own time fails, whatever it asked meanwhile.

use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{FaultClass, ModelFault};
use agon::prelude::EventBody;
use serde_json::json;

use crate::http_service::{self, Response};
use crate::support::Bench;

/// How it treats whoever asks.
#[derive(Clone, Copy)]
enum Manner {
    Silent,
    Busy,
    Prompt,
}

/// The address of a service of such a manner.
fn service(manner: Manner) -> String {
    let url = http_service::start(move |_| answer(manner));
    format!("{url}/v1")
}

fn answer(manner: Manner) -> Response {
    match manner {
        Manner::Silent => Response::Silence,
        Manner::Busy => {
            let error = json!({ "error": { "message": "too many of you" } });
            Response::json("429 Too Many Requests", &error).with("retry-after", "60")
        }
        Manner::Prompt => {
            let answer = json!({
                "id": "x", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{ "index": 0, "finish_reason": "stop",
                    "message": { "role": "assistant", "content": "yes" } }],
                "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
            });
            Response::json("200 OK", &answer)
        }
    }
}

/// `ask(wait)` asks, and hangs up after so many seconds.
const AGENT: &str = r#"
import json, os, sys, time, urllib.request
def ask(wait):
    body = {"messages": [{"role": "user", "content": "hello"}]}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", data=json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    try:
        urllib.request.urlopen(request, timeout=wait).read()
    except OSError:
        pass
sys.stdin.readline()
sys.stdin.readline()
"#;

fn play(manner: Manner, step: u32, code: &str) -> Bench {
    let bench = Bench::new();
    let task = json!({
        "task": "Ask.",
        "limits": { "step": step },
        "checks": [{ "type": "returned_result", "equals": "done" }],
    });
    bench.suite(&[("asking", &task.to_string())]);
    bench.write(
        "agents/agent.py",
        &format!("{AGENT}{code}\ntime.sleep(600)\n"),
    );
    let base_url = service(manner);
    let config = format!("[llm.it]\nmodel = \"openai/m\"\nbase_url = \"{base_url}\"\n");
    bench.write("config.toml", &config);
    let agent = ["--agent", "cmd:python3 agents/agent.py"];
    bench.run(&[&agent[..], &["--model", "it", "--retries", "0"]].concat());
    bench
}

/// Each takes a whole step: all at once.
fn all<T: Copy + Sync>(cases: &[T], check: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(*case));
        }
    });
}

#[test]
fn a_service_that_keeps_the_agent_waiting_is_a_fault() {
    let cases = [(Manner::Silent, "timeout"), (Manner::Busy, "rate_limit")];
    all(&cases, |(manner, told)| {
        let bench = play(manner, 10, "ask(600)");
        let trial = bench.trial();
        let fault = trial.fault.clone().unwrap();
        assert_eq!(fault.class, FaultClass::Model, "{}", fault.message);
        assert!(fault.message.contains(told), "{}", fault.message);
        let events = bench.reader().events(&trial).unwrap();
        let call = events.iter().find_map(|event| match &event.body {
            EventBody::Model(call) => Some(call),
            _ => None,
        });
        assert_eq!(call.unwrap().fault, Some(ModelFault::Cancelled));
    });
}

#[test]
fn an_agent_that_wastes_its_own_time_fails() {
    let cases = [
        // Asks nobody.
        (Manner::Silent, ""),
        // Hangs up at once.
        (Manner::Prompt, "ask(0.001)"),
        (Manner::Prompt, "ask(600)"),
        // Asks when its step is nearly over.
        (Manner::Silent, "time.sleep(7)\nask(600)"),
    ];
    all(&cases, |(manner, code)| {
        let trial = play(manner, 8, code).trial();
        let found = (trial.outcome, trial.end);
        let expected = (Outcome::Failed, Some(TurnEnd::Silent));
        assert_eq!(found, expected, "{code}: {:?}", trial.fault);
    });
}
