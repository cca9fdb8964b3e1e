//! What an agent can bring about through its gateway is never a fault: its own rate of calls, answers beyond
//! our bounds, requests that no tape has. What the service does is one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{FaultClass, ModelFault};
use serde_json::{Value, json};

use super::stage::Stage;
use crate::http_service::{self, Request, Response};

fn hello() -> Value {
    json!({
        "id": "x", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{ "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": "yes" } }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
    })
}

fn busy() -> Response {
    let error = json!({ "error": { "message": "too many of you" } });
    Response::json("429 Too Many Requests", &error)
}

/// A stage whose model `it` is answered so, by a service that is asked twice at most.
fn before(answer: impl Fn(Request) -> Response + Send + Sync + 'static) -> Stage {
    let stage = Stage::new();
    let url = http_service::start(answer);
    let config = format!(
        "[llm.it]\nmodel = \"openai/m\"\nbase_url = \"{url}/v1\"\nnum_retries = 2\nretry_min_wait = 0.01\n\
         retry_max_wait = 0.3\ninput_cost_per_token = 0.00001\noutput_cost_per_token = 0.00001\n"
    );
    stage.bench.write("config.toml", &config);
    stage
}

#[test]
fn a_rate_of_calls_that_the_agent_itself_provokes_is_no_fault() {
    let open = Arc::new(AtomicUsize::new(0));
    let stage = before(move |_| {
        // It takes three at a time.
        let others = open.fetch_add(1, Ordering::SeqCst);
        std::thread::park_timeout(Duration::from_millis(100));
        open.fetch_sub(1, Ordering::SeqCst);
        match others < 3 {
            true => Response::json("200 OK", &hello()),
            false => busy(),
        }
    });
    stage.agent(
        r#"
import threading
seen = []
def burst():
    while 429 not in seen: seen.append(ask(hello())[0])
for _ in range(15): threading.Thread(target=burst, daemon=True).start()
until = time.time() + 20
while 429 not in seen and time.time() < until: time.sleep(0.01)
os._exit(1)
"#,
    );
    stage.run("cmd", "it", &["--retries", "0"]);
    let trial = stage.bench.trial();
    assert_eq!(trial.outcome, Outcome::Failed, "{:?}", trial.fault);
    assert_eq!(trial.end, Some(TurnEnd::Crashed));
}

#[test]
fn a_service_that_refuses_an_agent_that_is_quiet_is_a_fault() {
    let asked = AtomicUsize::new(0);
    let stage = before(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => Response::json("200 OK", &hello()),
        _ => busy(),
    });
    stage.agent("think(said(ask(hello())))\nsys.exit(said(ask(hello())))");
    stage.run("cmd", "it", &["--retries", "0"]);
    let trial = stage.bench.trial();
    let fault = trial.fault.unwrap();
    assert_eq!(fault.class, FaultClass::Model, "{}", fault.message);
    assert!(fault.message.contains("rate_limit"), "{}", fault.message);
    // One answered, two tries, and one when the other was long over.
    let tries: Vec<_> = stage.calls().iter().map(|call| call.tries).collect();
    assert_eq!(tries, [1, 3]);
}

#[test]
fn an_answer_beyond_our_bounds_is_no_fault_and_is_paid_for() {
    let stage = before(|_| {
        let mut answer = hello();
        answer["choices"][0]["logprobs"] = json!({ "content": vec![1; 260_000] });
        answer.as_object_mut().unwrap().remove("usage");
        Response::json("200 OK", &answer)
    });
    stage.task(json!({ "tokens": 40_000 }));
    stage.agent(
        r#"
statuses = [ask(hello(logprobs=True, top_logprobs=20, max_tokens=9000))[0] for _ in range(20)]
print(statuses, file=sys.stderr)
sys.exit(1)
"#,
    );
    stage.run("cmd", "it", &["--retries", "0"]);
    let trial = stage.bench.trial();
    assert_eq!(trial.outcome, Outcome::Failed, "{:?}", trial.fault);
    assert_eq!(trial.end, Some(TurnEnd::TokenLimit));
    let calls = stage.calls();
    let of = |fault| {
        calls
            .iter()
            .filter(|call| call.fault == Some(fault))
            .count()
    };
    assert_eq!((of(ModelFault::BadAnswer), of(ModelFault::Budget)), (5, 15));
    // What they came to is an estimate, and told to be one.
    assert!((9_000..=40_000).contains(&trial.usage.tokens()));
    assert_eq!(trial.usage.unpriced_calls, 5);
    let report = stage.bench.call(&["report", "run"]).expect(0).stdout();
    assert!(report.contains(">="), "{report}");
}

#[test]
fn a_miss_of_the_tape_is_the_agents_own_and_tells_it_nothing() {
    let stage = before(|_| Response::json("200 OK", &hello()));
    stage.agent("think(said(ask(hello('the door opens by 4711'))))");
    let record = ["--record-tape", "calls.tape"];
    stage.run("cmd", "it", &record).expect(0);
    std::fs::remove_dir_all(stage.bench.path("run")).unwrap();
    stage.agent("think(ask(hello('what opens the door')))\nsys.exit(1)");
    stage.run("cmd", "it", &["--tape", "calls.tape"]).expect(0);
    let trial = stage.bench.trial();
    assert_eq!(trial.outcome, Outcome::Failed, "{:?}", trial.fault);
    let thoughts = stage.thoughts();
    assert!(thoughts[0].starts_with("(502"), "{thoughts:?}");
    assert!(!thoughts[0].contains("4711"), "{thoughts:?}");
    let calls = stage.calls();
    assert_eq!(calls[0].fault, Some(ModelFault::NotOnTape));
    let why = calls[0].why.as_ref().unwrap();
    assert!(why.contains("4711"), "the record says what differs: {why}");
}

#[test]
fn sixteen_calls_at_once_stay_within_the_limits_of_the_task() {
    for limit in [json!({ "tokens": 1_000 }), json!({ "money": 0.01 })] {
        // It gives what it is asked for.
        let stage = before(|request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            std::thread::park_timeout(Duration::from_millis(30));
            let mut answer = hello();
            answer["usage"]["completion_tokens"] = body["max_tokens"].clone();
            Response::json("200 OK", &answer)
        });
        stage.task(limit.clone());
        stage.agent(
            r#"
import threading
seen = []
def one(): seen.append(ask(hello(max_tokens=5000))[0])
all = [threading.Thread(target=one) for _ in range(16)]
for each in all: each.start()
for each in all: each.join()
think(sorted(seen))
"#,
        );
        stage.run("cmd", "it", &[]).expect(0);
        let thoughts = stage.thoughts();
        assert!(thoughts[0].starts_with("[200, 402,"), "{thoughts:?}");
        let usage = stage.bench.trial().usage;
        assert!(usage.tokens() <= 1_000, "{limit}: {usage:?}");
        assert_eq!(usage.calls, 1);
    }
}

#[test]
fn tools_of_the_provider_do_not_reach_it_however_they_are_hidden() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let stage = before(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Response::json("200 OK", &hello())
    });
    let config = std::fs::read_to_string(stage.bench.path("config.toml")).unwrap();
    let config = config.replace("openai/m", "openai-responses/m");
    stage.bench.write("config.toml", &config);
    stage.agent(
        r#"
search = [{"type": "web_search"}]
for item in [{"type": "additional_tools", "role": "developer", "tools": search},
             {"type": "tool_search_output", "tools": [{"type": "namespace", "name": "n", "tools": search}]},
             {"type": "web_search_call", "id": "ws_1"}, {"type": "item_reference", "id": "x"}]:
    status, body = ask({"input": [{"role": "user", "content": "x"}, item]}, "/responses")
    think(f"{status} {body['error']['message']}")
file = {"type": "file", "file": {"file_id": "file-7"}}
status, body = ask({"messages": [{"role": "user", "content": [file]}]})
think(f"{status} {body['error']['message']}")
"#,
    );
    stage.run("cmd", "it", &[]).expect(0);
    let thoughts = stage.thoughts();
    for (thought, path) in thoughts.iter().zip([
        "400 `input[1].tools[0]`",
        "400 `input[1].tools[0].tools[0]`",
        "400 `input[1]`",
        "400 `input[1]`",
        "400 `messages[0].content[0].file.file_id`",
    ]) {
        assert!(thought.starts_with(path), "{path}: {thought}");
    }
    assert_eq!((thoughts.len(), asked.load(Ordering::SeqCst)), (5, 0));
}
