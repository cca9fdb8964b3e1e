//! Bodies that clients of Responses send to the gateway. They are kept as they are in `raw`; what is
//! read from them is for providers of another form.

use agon_core::ModelFault;
use serde_json::Value;

use crate::error::LlmError;
use crate::message::{Message, Part, Reasoning, Role, ToolCall, ToolResult};
use crate::request::{Request, Sampling, Tool};
use crate::spec::Wire;
use crate::wire::body::{count, list, text};
use crate::wire::turns::{name_of, push};
use crate::wire::{arguments, computer, data_url, openai};

pub(super) fn request(body: Value) -> Result<Request, LlmError> {
    if !body.is_object() {
        return Err(bad("the body is no object"));
    }
    // What is kept at a provider is not seen here, and not there for any other.
    for key in ["previous_response_id", "conversation", "prompt"] {
        if body.get(key).is_some_and(|value| !value.is_null()) {
            let why = format!("`{key}` is not served here: send the whole conversation as `input`");
            return Err(bad(&why));
        }
    }
    if body.get("background") == Some(&Value::Bool(true)) {
        return Err(bad("`background` is not served here: leave it out"));
    }
    let mut request = Request {
        system: text(&body, "instructions").map(str::to_owned),
        tools: list(&body, "tools").iter().map(tool).collect(),
        tool_choice: openai::tool_choice(body.get("tool_choice"), |choice| text(choice, "name")),
        output: openai::output(body.pointer("/text/format")),
        sampling: sampling(&body),
        ..Request::default()
    };
    match body.get("input") {
        Some(Value::String(words)) => request.messages.push(Message::user(words.as_str())),
        Some(Value::Array(items)) if !items.is_empty() => {
            for item in items {
                add(&mut request, item)?;
            }
        }
        _ => return Err(bad("`input` is missing or empty")),
    }
    request.raw = Some((Wire::Responses, body));
    Ok(request)
}

fn bad(why: &str) -> LlmError {
    LlmError::new(ModelFault::BadRequest, why)
}

fn add(request: &mut Request, item: &Value) -> Result<(), LlmError> {
    let id = || text(item, "call_id").unwrap_or_default().to_owned();
    match text(item, "type") {
        Some("message") | None => return message(request, item),
        Some("reasoning") => {
            let texts = list(item, "summary")
                .iter()
                .filter_map(|part| text(part, "text"));
            let thought = Reasoning {
                text: texts.collect::<Vec<_>>().join("\n\n"),
                raw: Some((Wire::Responses, item.clone())),
            };
            push(request, Role::Assistant, vec![Part::Reasoning(thought)]);
        }
        Some(kind @ ("function_call" | "computer_call" | "custom_tool_call")) => {
            let (name, input) = match kind {
                "function_call" => (text(item, "name"), arguments::read(item.get("arguments"))),
                "custom_tool_call" => (
                    text(item, "name"),
                    item.get("input").cloned().unwrap_or_default(),
                ),
                _ => {
                    let action = item.get("action").or_else(|| item.get("actions"));
                    (Some(computer::NAME), action.cloned().unwrap_or_default())
                }
            };
            let name = name
                .ok_or_else(|| bad("a tool call has no name"))?
                .to_owned();
            let raw = (kind != "function_call").then(|| (Wire::Responses, item.clone()));
            let call = ToolCall {
                id: id(),
                name,
                input,
                raw,
            };
            push(request, Role::Assistant, vec![Part::ToolCall(call)]);
        }
        Some("function_call_output" | "custom_tool_call_output" | "computer_call_output") => {
            let id = id();
            let result = ToolResult {
                name: name_of(request, &id).unwrap_or_default(),
                call: id,
                parts: content(item, "output"),
                is_error: false,
            };
            push(request, Role::User, vec![Part::ToolResult(result)]);
        }
        Some("item_reference") => {
            return Err(bad(
                "references to items are not served here: send the items themselves",
            ));
        }
        Some(_) => {
            let value = item.clone();
            let wire = Wire::Responses;
            push(request, Role::Assistant, vec![Part::Other { wire, value }]);
        }
    }
    Ok(())
}

fn message(request: &mut Request, item: &Value) -> Result<(), LlmError> {
    let parts = content(item, "content");
    match text(item, "role") {
        Some("system" | "developer") if request.messages.is_empty() => {
            openai::instruct(request, &parts);
        }
        Some("user" | "system" | "developer") => push(request, Role::User, parts),
        Some("assistant") => push(request, Role::Assistant, parts),
        other => {
            let role = other.unwrap_or_default();
            let why = format!("a message has the role `{role}`: use developer, user or assistant");
            return Err(bad(&why));
        }
    }
    Ok(())
}

/// A text, a list of parts, or one part.
fn content(item: &Value, key: &str) -> Vec<Part> {
    match item.get(key) {
        Some(Value::String(words)) => vec![Part::Text(words.clone())],
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(one @ Value::Object(_)) => vec![part(one)],
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Part {
    let other = || Part::Other {
        wire: Wire::Responses,
        value: part.clone(),
    };
    match text(part, "type") {
        Some("input_text" | "output_text" | "text") => {
            Part::Text(text(part, "text").unwrap_or_default().to_owned())
        }
        Some("input_image" | "computer_screenshot") => text(part, "image_url")
            .and_then(data_url::read)
            .map_or_else(other, Part::Image),
        _ => other(),
    }
}

fn tool(tool: &Value) -> Tool {
    match (text(tool, "type"), text(tool, "name")) {
        (Some("function"), Some(name)) => openai::function(name, tool),
        _ => Tool::Own {
            wire: Wire::Responses,
            value: tool.clone(),
        },
    }
}

fn sampling(body: &Value) -> Sampling {
    let number = |key: &str| body.get(key).and_then(Value::as_f64);
    let effort = body.pointer("/reasoning/effort").and_then(Value::as_str);
    Sampling {
        temperature: number("temperature"),
        top_p: number("top_p"),
        max_tokens: count(body, "/max_output_tokens"),
        reasoning_effort: effort.map(str::to_owned),
        ..Sampling::default()
    }
}
