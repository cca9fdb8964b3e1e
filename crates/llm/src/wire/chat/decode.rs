//! An answer of chat completions. Whatever comes is hostile: nothing here fails other than by an error.

use agon_core::{ModelFault, Usage};
use serde_json::{Map, Value};

use crate::error::LlmError;
use crate::message::{Part, Reasoning, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::{ModelSpec, Wire};
use crate::wire::body::{count, list, text};
use crate::wire::{arguments, fault, openai};

pub(super) fn decode(spec: &ModelSpec, body: Value) -> Result<Reply, LlmError> {
    if let Some(error) = fault::of_value(None, &body) {
        return Err(error);
    }
    let broken = |what: &str| LlmError::new(ModelFault::BrokenResponse, what);
    let choice = list(&body, "choices").first();
    let choice = choice.ok_or_else(|| broken("the answer has no `choices`"))?;
    if let Some(error) = fault::of_value(None, choice) {
        return Err(error);
    }
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| broken("the answer has no `message`"))?;
    let refused = |why: &str| LlmError::new(ModelFault::Refusal, why);
    if let Some(refusal) = text(message, "refusal") {
        return Err(refused(refusal));
    }
    let reason = text(choice, "finish_reason");
    if reason == Some("content_filter") {
        return Err(refused(
            "the answer was stopped by the provider's content filter",
        ));
    }
    let mut parts = Vec::new();
    parts.extend(reasoning(message).map(Part::Reasoning));
    content(message, &mut parts);
    for (nth, call) in list(message, "tool_calls").iter().enumerate() {
        parts.push(Part::ToolCall(read_call(nth, call)?));
    }
    let calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let stop = match reason {
        Some("length") => Stop::MaxTokens,
        // vLLM says which word it was.
        Some("stop") if choice.get("stop_reason").is_some_and(Value::is_string) => Stop::StopWord,
        _ if calls => Stop::ToolCalls,
        Some("stop" | "tool_calls" | "function_call") | None => Stop::End,
        Some(other) => Stop::Other(other.to_owned()),
    };
    let empty = !parts.iter().any(|part| !matches!(part, Part::Reasoning(_)));
    // A model may have nothing to say, and then ends as it always does.
    let ended = matches!(
        reason,
        Some("stop" | "length" | "tool_calls" | "function_call")
    );
    if empty && !ended {
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

/// vLLM and DeepSeek say `reasoning_content`, OpenRouter and newer vLLM `reasoning`.
fn reasoning(message: &Value) -> Option<Reasoning> {
    let keys = ["reasoning_content", "reasoning", "reasoning_details"];
    let raw: Map<String, Value> = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), message.get(*key)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect();
    let words = text(message, "reasoning_content").or_else(|| text(message, "reasoning"));
    if words.is_none() && list(message, "reasoning_details").is_empty() {
        return None;
    }
    Some(Reasoning {
        text: words.unwrap_or_default().to_owned(),
        raw: Some((Wire::Chat, raw.into())),
    })
}

fn content(message: &Value, parts: &mut Vec<Part>) {
    if let Some(words) = text(message, "content") {
        parts.push(Part::Text(words.to_owned()));
    }
    for part in list(message, "content") {
        match text(part, "type") {
            Some("text") => {
                parts.extend(text(part, "text").map(|text| Part::Text(text.to_owned())))
            }
            _ => parts.push(Part::Other {
                wire: Wire::Chat,
                value: part.clone(),
            }),
        }
    }
}

/// `nth` names calls that came without an id.
pub(super) fn read_call(nth: usize, call: &Value) -> Result<ToolCall, LlmError> {
    // OpenAI's custom tools take text instead of JSON.
    let (function, argument) = match call.get("custom") {
        Some(custom) => (custom, "input"),
        None => (call.get("function").unwrap_or(&Value::Null), "arguments"),
    };
    let name = text(function, "name").ok_or_else(openai::nameless_call)?;
    let input = match function.get(argument) {
        given if argument == "input" => given.cloned().unwrap_or_default(),
        given => arguments::read(given),
    };
    let special = openai::says_more(call, &["id", "type", "function", "index"]);
    Ok(ToolCall {
        id: openai::call_id(text(call, "id"), nth),
        name: name.to_owned(),
        input,
        raw: special.then(|| (Wire::Chat, call.clone())),
    })
}

pub(super) fn usage(body: &Value) -> Usage {
    let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| count(body, pointer));
    let input = first(&["/usage/prompt_tokens"]).unwrap_or(0);
    let mut output = first(&["/usage/completion_tokens"]).unwrap_or(0);
    let reasoning = first(&["/usage/completion_tokens_details/reasoning_tokens"]).unwrap_or(0);
    // Some services count thoughts beside the output; their sum shows it.
    let all = input.saturating_add(output).saturating_add(reasoning);
    if reasoning > 0 && first(&["/usage/total_tokens"]) == Some(all) {
        output = output.saturating_add(reasoning);
    }
    let cached = first(&[
        "/usage/prompt_tokens_details/cached_tokens",
        "/usage/prompt_cache_hit_tokens",
    ]);
    let written = first(&[
        "/usage/prompt_tokens_details/cache_write_tokens",
        "/usage/cache_creation_input_tokens",
    ]);
    Usage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: cached.unwrap_or(0).min(input),
        cache_write_tokens: written.unwrap_or(0).min(input),
        reasoning_tokens: reasoning.min(output),
        calls: 1,
        ..Usage::default()
    }
}
