//! Coding agents whose model only plays answers from a file, and what they leave.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::http_service::{self, Request, Response};
use crate::support::Bench;

/// An answer that runs a command.
pub(crate) fn run(command: &str) -> Value {
    json!({ "tool_calls": [{ "name": "execute_bash", "input": { "command": command } }] })
}

pub(crate) fn finish(message: &str) -> Value {
    json!({ "tool_calls": [{ "name": "finish", "input": { "message": message } }] })
}

impl Bench {
    /// The name of a model that gives these answers to every conversation.
    pub(crate) fn turns(&self, name: &str, answers: &[Value]) -> String {
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        self.write(name, &lines.join("\n"));
        format!("mock/turns:{name}")
    }

    /// The same by a service that is paid: every answer costs a dollar. `[llm]` of config.toml is it.
    pub(crate) fn paid_turns(&self, key: &str, answers: &[Value]) {
        let answers = answers.to_vec();
        let url = http_service::start(move |request| paid(&request, &answers));
        let config = format!(
            "[llm]\nmodel = 'openai/paid'\nbase_url = '{url}/v1'\napi_key = '{key}'\n\
             input_cost_per_token = 0.0\noutput_cost_per_token = 0.01\n"
        );
        self.write("config.toml", &config);
    }
}

fn paid(request: &Request, answers: &[Value]) -> Response {
    let asked: Value = serde_json::from_slice(&request.body).unwrap();
    let messages = asked["messages"].as_array().unwrap();
    let said = messages
        .iter()
        .filter(|message| message["role"] == "assistant");
    let turn = said.count();
    let answer = &answers[turn.min(answers.len() - 1)];
    let calls = answer["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| {
            let function = json!({ "name": call["name"], "arguments": call["input"].to_string() });
            json!({ "id": format!("call_{turn}"), "type": "function", "function": function })
        });
    let message =
        json!({ "role": "assistant", "content": null, "tool_calls": Vec::from_iter(calls) });
    let body = json!({
        "id": format!("answer-{turn}"), "object": "chat.completion", "created": 0, "model": "paid",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }],
        "usage": { "prompt_tokens": 70, "completion_tokens": 100, "total_tokens": 170 },
    });
    Response::json("200 OK", &body)
}

/// Every line of a file of JSON lines.
#[track_caller]
pub(crate) fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let read =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}

/// The lines of a file, whatever their order: trials that end together have none.
#[track_caller]
pub(crate) fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The keys of an object, in their order in the text.
pub(crate) fn keys(text: &str) -> Vec<String> {
    struct Keys(Vec<String>);
    impl<'de> serde::Deserialize<'de> for Keys {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Keys;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<M: serde::de::MapAccess<'de>>(
                    self,
                    mut map: M,
                ) -> Result<Keys, M::Error> {
                    let mut keys = Vec::new();
                    while let Some(key) = map.next_key()? {
                        keys.push(key);
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                    Ok(Keys(keys))
                }
            }
            from.deserialize_map(Visitor)
        }
    }
    let Keys(keys) = serde_json::from_str(text).unwrap();
    keys
}

/// What differs from run to run, masked.
pub(crate) fn masked(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(masked),
        Value::Object(fields) => {
            for (key, value) in fields {
                let differs = matches!(
                    key.as_str(),
                    "timestamp" | "start_time" | "latency" | "session" | "git_commit"
                        // These follow the agent's prompt, which is looked at elsewhere.
                        | "prompt_tokens" | "per_turn_token" | "total_tokens"
                );
                if differs && !value.is_null() {
                    *value = json!(format!("[{key}]"));
                }
                masked(value);
            }
        }
        _ => {}
    }
}

/// A snapshot beside the other ones of this program.
#[track_caller]
pub(crate) fn assert_shape(name: &str, mut value: Value) {
    masked(&mut value);
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots");
    let text = serde_json::to_string_pretty(&value).unwrap();
    settings.bind(|| insta::assert_snapshot!(name, text));
}
