//! Agents that use a vendor's own computer tool, at work on a real screen: the services are played here, in the
//! vendors' own form, over HTTP.

use std::sync::{Arc, Mutex};

use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{Action, EventBody};
use serde_json::{Value, json};

use crate::http_service::{self, Response};
use crate::support::Bench;

const TASK: &str = "\
task: Write done to done.txt, and say what you wrote.
environment: { kind: desktop, screen: 640x480, apps: [xterm -geometry 80x20+0+0] }
limits: { steps: 12, seconds: 120 }
checks:
  - { type: file, path: done.txt, equals: \"done\\n\" }
  - { type: returned_result, equals: I wrote done. }
";

const COMMAND: &str = "echo done > done.txt\n";

struct Played {
    bench: Bench,
    /// The bodies that were sent.
    asked: Vec<Value>,
}

impl Played {
    /// `answers` are the outputs of the service in order, put into the vendor's form by `form`.
    fn of(agent: &str, model: &str, answers: Vec<Value>, form: fn(&Value, usize) -> Value) -> Self {
        let bench = Bench::new();
        bench.suite(&[("a", TASK)]);
        let asked = Arc::new(Mutex::new(Vec::<Value>::new()));
        let notes = Arc::clone(&asked);
        let url = http_service::start(move |request| {
            let body = serde_json::from_slice(&request.body).unwrap();
            let mut notes = notes.lock().unwrap();
            notes.push(body);
            let turn = notes.len() - 1;
            let answer = answers.get(turn).or(answers.last()).unwrap();
            Response::json("200 OK", &form(answer, turn))
        });
        bench.write(
            "config.toml",
            &format!(
                "[llm.vendor]\nmodel = \"{model}\"\nbase_url = \"{url}/v1\"\napi_key = \"k\"\nnum_retries = 1\n"
            ),
        );
        let args = ["--agent", agent, "--model", "vendor", "--retries", "0"];
        let called = bench.run(&args);
        assert!(called.status() < 2, "{}", called.stderr());
        let asked = asked.lock().unwrap().clone();
        Self { bench, asked }
    }

    fn passed(&self) -> Vec<Action> {
        let line = self.bench.trial();
        let events = self.bench.reader().events(&line).unwrap();
        assert_eq!(line.outcome, Outcome::Passed, "{events:?}");
        assert_eq!(line.end, Some(TurnEnd::Finished));
        let action = |event: agon::core::Event| match event.body {
            EventBody::Action(action) => Some(action),
            _ => None,
        };
        events.into_iter().filter_map(action).collect()
    }
}

fn responses(output: &Value, turn: usize) -> Value {
    json!({
        "id": format!("resp_{turn}"), "object": "response", "status": "completed", "model": "m",
        "output": output, "usage": {"input_tokens": 10, "output_tokens": 5},
    })
}

fn computer_call(turn: usize, action: &Value) -> Value {
    json!([
        {"type": "reasoning", "id": format!("rs_{turn}"), "summary": [{"type": "summary_text", "text": "a terminal"}]},
        {"type": "computer_call", "id": format!("cu_{turn}"), "call_id": format!("call_{turn}"),
         "status": "completed", "action": action,
         "pending_safety_checks": [{"id": "sc_1", "code": "malicious", "message": "look at this"}]},
    ])
}

#[test]
fn openai_solves_a_task_by_its_own_tool() {
    let said = json!([{"type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "I wrote done.", "annotations": []}]}]);
    let played = Played::of(
        "openai-computer-use",
        "openai-responses/computer-use-preview",
        vec![
            computer_call(
                0,
                &json!({"type": "click", "button": "left", "x": 200, "y": 100}),
            ),
            computer_call(1, &json!({"type": "type", "text": COMMAND})),
            computer_call(2, &json!({"type": "wait", "ms": 500})),
            said,
        ],
        responses,
    );
    let actions = played.passed();
    assert!(
        matches!(actions[0], Action::Click { x: 200, y: 100, .. }),
        "{actions:?}"
    );
    let tool = &played.asked[0]["tools"][0];
    assert_eq!(
        (&tool["type"], &tool["display_width"]),
        (&"computer_use_preview".into(), &640.into())
    );
    let input = played.asked[1]["input"].as_array().unwrap();
    let output = input
        .iter()
        .find(|item| item["type"] == "computer_call_output")
        .unwrap();
    assert_eq!(output["call_id"], "call_0");
    let url = output["output"]["image_url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,"), "{url}");
    assert_eq!(output["acknowledged_safety_checks"][0]["id"], "sc_1");
    let line = played.bench.trial();
    let events = played.bench.reader().events(&line).unwrap();
    let warned = events.iter().any(|event| {
        matches!(&event.body, EventBody::Thought(text) if text.contains("safety check acknowledged: look at this"))
    });
    assert!(warned, "what the provider warns of is recorded");
}

fn messages(content: &Value, turn: usize) -> Value {
    let uses = content
        .as_array()
        .unwrap()
        .iter()
        .any(|block| block["type"] == "tool_use");
    json!({
        "id": format!("msg_{turn}"), "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": if uses { "tool_use" } else { "end_turn" },
        "usage": {"input_tokens": 10, "output_tokens": 5},
    })
}

fn tool_use(id: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "computer", "input": input})
}

#[test]
fn anthropic_solves_a_task_by_its_own_tool_with_two_calls_at_once() {
    let played = Played::of(
        "anthropic-computer-use",
        "anthropic/claude-sonnet-4-5",
        vec![
            json!([
                {"type": "text", "text": "I click and type."},
                tool_use("a", &json!({"action": "left_click", "coordinate": [200, 100]})),
                tool_use("b", &json!({"action": "type", "text": COMMAND})),
            ]),
            json!([tool_use("c", &json!({"action": "left_mouse_down"}))]),
            json!([tool_use("d", &json!({"action": "wait", "duration": 0.5}))]),
            json!([{"type": "text", "text": "I wrote done."}]),
        ],
        messages,
    );
    let actions = played.passed();
    assert!(
        matches!(actions[0], Action::Click { x: 200, y: 100, .. }),
        "{actions:?}"
    );
    assert_eq!(
        actions[1],
        Action::Type {
            text: COMMAND.to_owned()
        }
    );
    let tool = &played.asked[0]["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["display_width_px"]),
        (&"computer".into(), &640.into())
    );
    // Both calls are answered, in one message, each with the screen after it.
    let last = played.asked[1]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    let ids: Vec<&Value> = last["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["tool_use_id"])
        .collect();
    assert_eq!(ids, ["a", "b"]);
    // What can't be done is told, and the turn goes on.
    let told = played.asked[2]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    let refused = &told["content"][0];
    assert_eq!(refused["is_error"], true);
    assert!(refused.to_string().contains("left_click_drag"), "{refused}");
}
