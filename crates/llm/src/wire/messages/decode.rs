//! A whole answer of this API.

use agon_core::{ModelFault, Usage};
use serde_json::Value;

use super::content::unified_call;
use super::fault::of_error;
use super::tools::ANSWER;
use crate::error::LlmError;
use crate::message::{Part, Reasoning, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::Wire;

pub(super) fn decode(body: Value) -> Result<Reply, LlmError> {
    if body["type"] == "error" || body["error"].is_object() {
        return Err(of_error(None, &body));
    }
    let broken = |why: &str| LlmError::new(ModelFault::BrokenResponse, why);
    let content = body["content"].as_array();
    let content = content.ok_or_else(|| broken("the answer has no `content`"))?;
    let mut parts: Vec<Part> = content.iter().filter_map(part).collect();
    let reason = body["stop_reason"].as_str().unwrap_or("");
    if reason == "refusal" {
        return Err(refusal(&body, &parts));
    }
    let mut stop = match reason {
        "end_turn" => Stop::End,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        "tool_use" => Stop::ToolCalls,
        "stop_sequence" => Stop::StopWord,
        other => Stop::Other(other.to_owned()),
    };
    for part in &mut parts {
        if let Part::ToolCall(call) = part
            && call.name == ANSWER
        {
            *part = Part::Text(call.input.to_string());
        }
    }
    let calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    if stop == Stop::ToolCalls && !calls {
        stop = Stop::End;
    }
    // A model may have nothing to say, and then says why it ended.
    if parts.is_empty() && reason.is_empty() {
        return Err(broken("the answer is empty"));
    }
    Ok(Reply {
        parts,
        stop,
        usage: usage(&body["usage"]),
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        raw: body,
    })
}

/// One block, in the one form. `None`: there is nothing in it.
pub(super) fn part(block: &Value) -> Option<Part> {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    let raw = || Some((Wire::Messages, block.clone()));
    match block["type"].as_str()? {
        "text" => Some(Part::Text(text("text"))).filter(|_| block["text"] != ""),
        "tool_use" => {
            let (name, input) = unified_call(block);
            Some(Part::ToolCall(ToolCall {
                id: text("id"),
                name,
                input,
                raw: raw(),
            }))
        }
        "thinking" => Some(Part::Reasoning(Reasoning {
            text: text("thinking"),
            raw: raw(),
        })),
        "redacted_thinking" => Some(Part::Reasoning(Reasoning {
            text: String::new(),
            raw: raw(),
        })),
        _ => Some(Part::Other {
            wire: Wire::Messages,
            value: block.clone(),
        }),
    }
}

fn refusal(body: &Value, parts: &[Part]) -> LlmError {
    let said = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let said: String = said.collect();
    let details = &body["stop_details"];
    let why = details["explanation"]
        .as_str()
        .or(details["category"].as_str());
    let why = why.unwrap_or(&said);
    let why = if why.is_empty() {
        "no reason was given"
    } else {
        why
    };
    LlmError::new(
        ModelFault::Refusal,
        format_args!("the model refuses to answer: {why}"),
    )
}

/// What was read from a cache or put into it is reported apart from the rest of the input.
pub(super) fn usage(usage: &Value) -> Usage {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    let cached_tokens = count("cache_read_input_tokens");
    let cache_write_tokens = count("cache_creation_input_tokens");
    let details = &usage["output_tokens_details"]["thinking_tokens"];
    Usage {
        input_tokens: count("input_tokens")
            .saturating_add(cached_tokens)
            .saturating_add(cache_write_tokens),
        output_tokens: count("output_tokens"),
        cached_tokens,
        cache_write_tokens,
        reasoning_tokens: details.as_u64().unwrap_or(0),
        calls: 1,
        ..Usage::default()
    }
}
