//! Bodies that clients of chat completions send to the gateway. They are kept as they are in `raw`; what
//! is read from them is for providers of another form.

use agon_core::ModelFault;
use serde_json::Value;

use super::decode::read_call;
use crate::error::LlmError;
use crate::message::{Part, Reasoning, Role, ToolResult};
use crate::request::{Request, Sampling, Tool};
use crate::spec::Wire;
use crate::wire::body::{count, list, text};
use crate::wire::turns::{name_of, push};
use crate::wire::{data_url, openai};

pub(super) fn request(body: Value) -> Result<Request, LlmError> {
    let bad = |why: &str| LlmError::new(ModelFault::BadRequest, why);
    if !body.is_object() {
        return Err(bad("the body is no object"));
    }
    let messages = list(&body, "messages");
    if messages.is_empty() {
        return Err(bad("`messages` is missing or empty"));
    }
    if body.get("n").is_some_and(|n| !n.is_null() && n != 1) {
        return Err(bad("only one answer per request is given: leave `n` out"));
    }
    let mut request = Request {
        tools: list(&body, "tools").iter().map(tool).collect(),
        tool_choice: openai::tool_choice(body.get("tool_choice"), |choice| {
            text(choice.get("function")?, "name")
        }),
        output: openai::output(body.pointer("/response_format/json_schema")),
        sampling: sampling(&body),
        ..Request::default()
    };
    for message in messages {
        add(&mut request, message)?;
    }
    request.raw = Some((Wire::Chat, body));
    Ok(request)
}

fn add(request: &mut Request, message: &Value) -> Result<(), LlmError> {
    let role = text(message, "role").unwrap_or_default();
    let mut parts = content(message);
    match role {
        "system" | "developer" if request.messages.is_empty() => openai::instruct(request, &parts),
        // Instructions in the midst of a conversation have no other place.
        "user" | "system" | "developer" => push(request, Role::User, parts),
        "assistant" => {
            let thoughts =
                text(message, "reasoning_content").or_else(|| text(message, "reasoning"));
            if let Some(thoughts) = thoughts {
                let thought = Reasoning {
                    text: thoughts.to_owned(),
                    raw: None,
                };
                parts.insert(0, Part::Reasoning(thought));
            }
            for (nth, call) in list(message, "tool_calls").iter().enumerate() {
                let call = read_call(nth, call)
                    .map_err(|error| LlmError::new(ModelFault::BadRequest, error.message()))?;
                parts.push(Part::ToolCall(call));
            }
            push(request, Role::Assistant, parts);
        }
        "tool" | "function" => {
            let id = text(message, "tool_call_id").or_else(|| text(message, "name"));
            let id = id.unwrap_or_default().to_owned();
            let name = text(message, "name").map(str::to_owned);
            let name = name.or_else(|| name_of(request, &id)).unwrap_or_default();
            let result = ToolResult {
                call: id,
                name,
                parts,
                is_error: false,
            };
            push(request, Role::User, vec![Part::ToolResult(result)]);
        }
        other => {
            let why =
                format!("a message has the role `{other}`: use system, user, assistant or tool");
            return Err(LlmError::new(ModelFault::BadRequest, why));
        }
    }
    Ok(())
}

fn content(message: &Value) -> Vec<Part> {
    if let Some(words) = text(message, "content") {
        return vec![Part::Text(words.to_owned())];
    }
    let parts = list(message, "content").iter().map(|part| {
        let other = || Part::Other {
            wire: Wire::Chat,
            value: part.clone(),
        };
        match text(part, "type") {
            Some("text") => Part::Text(text(part, "text").unwrap_or_default().to_owned()),
            Some("image_url") => part
                .pointer("/image_url/url")
                .and_then(Value::as_str)
                .and_then(data_url::read)
                .map_or_else(other, Part::Image),
            _ => other(),
        }
    });
    parts.collect()
}

fn tool(tool: &Value) -> Tool {
    let function = tool.get("function").unwrap_or(&Value::Null);
    match text(function, "name") {
        Some(name) => openai::function(name, function),
        None => Tool::Own {
            wire: Wire::Chat,
            value: tool.clone(),
        },
    }
}

fn sampling(body: &Value) -> Sampling {
    let number = |key: &str| body.get(key).and_then(Value::as_f64);
    let stop = match body.get("stop") {
        Some(Value::String(word)) => vec![word.clone()],
        _ => {
            let words = list(body, "stop").iter().filter_map(Value::as_str);
            words.map(str::to_owned).collect()
        }
    };
    Sampling {
        temperature: number("temperature"),
        top_p: number("top_p"),
        top_k: count(body, "/top_k"),
        seed: body.get("seed").and_then(Value::as_i64),
        max_tokens: count(body, "/max_completion_tokens").or_else(|| count(body, "/max_tokens")),
        stop,
        reasoning_effort: text(body, "reasoning_effort").map(str::to_owned),
    }
}
