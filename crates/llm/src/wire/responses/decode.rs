//! An answer of Responses. Items that this version does not know are kept, since the provider wants them
//! back.

use agon_core::{ModelFault, Usage};
use serde_json::{Map, Value};

use crate::error::LlmError;
use crate::message::{Part, Reasoning, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::{ModelSpec, Wire};
use crate::wire::arguments;
use crate::wire::body::{count, list, text};
use crate::wire::{computer, fault, openai};

pub(super) fn decode(spec: &ModelSpec, body: Value) -> Result<Reply, LlmError> {
    if let Some(error) = fault::of_value(None, &body) {
        return Err(error);
    }
    let broken = |what: &str| LlmError::new(ModelFault::BrokenResponse, what);
    if !body.get("output").is_some_and(Value::is_array) {
        return Err(broken("the answer has no `output`"));
    }
    let status = text(&body, "status");
    let cut = match status {
        Some("completed") | None => None,
        Some("incomplete") => {
            let why = body
                .pointer("/incomplete_details/reason")
                .and_then(Value::as_str);
            Some(why.unwrap_or("incomplete"))
        }
        Some(other) => return Err(broken(&format!("the answer's status is `{other}`"))),
    };
    if cut == Some("content_filter") {
        let why = "the answer was stopped by the provider's content filter";
        return Err(LlmError::new(ModelFault::Refusal, why));
    }
    let mut parts = Vec::new();
    for (nth, each) in list(&body, "output").iter().enumerate() {
        item(nth, each, &mut parts)?;
    }
    let calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let stop = match cut {
        Some("max_output_tokens") => Stop::MaxTokens,
        Some(other) => Stop::Other(other.to_owned()),
        None if calls => Stop::ToolCalls,
        None => Stop::End,
    };
    let said = |part: &Part| matches!(part, Part::Text(_) | Part::ToolCall(_));
    // A model may have nothing to say, and then says that it ended.
    if status.is_none() && !parts.iter().any(said) {
        return Err(broken("the answer has neither text nor tool calls"));
    }
    Ok(Reply {
        parts,
        stop,
        usage: usage(&body),
        model: text(&body, "model").unwrap_or(&spec.model).to_owned(),
        raw: body,
    })
}

fn item(nth: usize, item: &Value, parts: &mut Vec<Part>) -> Result<(), LlmError> {
    let part = match text(item, "type") {
        Some("message") => return message(item, parts),
        Some("reasoning") => Part::Reasoning(Reasoning {
            text: thoughts(item),
            raw: Some((Wire::Responses, item.clone())),
        }),
        Some(kind @ ("function_call" | "computer_call" | "custom_tool_call")) => {
            Part::ToolCall(call(nth, kind, item)?)
        }
        _ => Part::Other {
            wire: Wire::Responses,
            value: item.clone(),
        },
    };
    parts.push(part);
    Ok(())
}

fn message(item: &Value, parts: &mut Vec<Part>) -> Result<(), LlmError> {
    // Whether a text was meant as the end or as a word in between: the model wants to know it again.
    if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
        let value = Map::from_iter([("phase".to_owned(), phase.clone())]).into();
        parts.push(Part::Other {
            wire: Wire::Responses,
            value,
        });
    }
    for part in list(item, "content") {
        match text(part, "type") {
            Some("output_text") => {
                parts.extend(text(part, "text").map(|text| Part::Text(text.to_owned())));
            }
            Some("refusal") => {
                let why = text(part, "refusal").unwrap_or("the model refused");
                return Err(LlmError::new(ModelFault::Refusal, why));
            }
            _ => parts.push(Part::Other {
                wire: Wire::Responses,
                value: part.clone(),
            }),
        }
    }
    Ok(())
}

/// The summary, or the thoughts themselves where a service gives them.
fn thoughts(item: &Value) -> String {
    let texts = |key| list(item, key).iter().filter_map(|part| text(part, "text"));
    let summary = texts("summary").collect::<Vec<_>>().join("\n\n");
    if summary.is_empty() {
        texts("content").collect::<Vec<_>>().join("\n\n")
    } else {
        summary
    }
}

fn call(nth: usize, kind: &str, item: &Value) -> Result<ToolCall, LlmError> {
    let name = match kind {
        "computer_call" => Some(computer::NAME),
        _ => text(item, "name"),
    };
    let name = name.ok_or_else(openai::nameless_call)?;
    let input = match kind {
        // One action, or several in a row.
        "computer_call" => match (item.get("actions"), item.get("action")) {
            (Some(actions), _) => Map::from_iter([("actions".to_owned(), actions.clone())]).into(),
            (None, Some(action)) => action.clone(),
            (None, None) => {
                let why = "a call of the computer has no action";
                return Err(LlmError::new(ModelFault::BrokenResponse, why));
            }
        },
        "custom_tool_call" => item.get("input").cloned().unwrap_or_default(),
        _ => arguments::read(item.get("arguments")),
    };
    let usual = ["id", "type", "call_id", "name", "arguments", "status"];
    let special = kind != "function_call" || openai::says_more(item, &usual);
    Ok(ToolCall {
        id: openai::call_id(text(item, "call_id"), nth),
        name: name.to_owned(),
        input,
        raw: special.then(|| (Wire::Responses, item.clone())),
    })
}

pub(super) fn usage(body: &Value) -> Usage {
    let number = |pointer| count(body, pointer).unwrap_or(0);
    let input = number("/usage/input_tokens");
    let output = number("/usage/output_tokens");
    Usage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: number("/usage/input_tokens_details/cached_tokens").min(input),
        cache_write_tokens: number("/usage/input_tokens_details/cache_write_tokens").min(input),
        reasoning_tokens: number("/usage/output_tokens_details/reasoning_tokens").min(output),
        calls: 1,
        ..Usage::default()
    }
}
