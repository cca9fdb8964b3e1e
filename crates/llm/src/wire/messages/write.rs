//! Answers in the form of this API, for clients of the gateway: whole, or as the events of a stream.

use agon_core::Usage;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::content::Writer;
use crate::message::{Part, Reasoning};
use crate::reply::{Reply, Stop};
use crate::spec::Wire;

/// Shown in place of a signature that nobody gave: clients insist on one.
const UNSIGNED: &str = "";

pub(super) fn reply(model: &str, reply: &Reply) -> Value {
    // From a provider of the same form it is handed on as it came.
    let raw = &reply.raw;
    if raw["type"] == "message" && raw["role"] == "assistant" && same(raw, reply) {
        let mut raw = raw.clone();
        raw["model"] = model.into();
        return raw;
    }
    let content: Vec<Value> = reply.parts.iter().filter_map(block).collect();
    let reason = match &reply.stop {
        Stop::End | Stop::Other(_) => "end_turn",
        Stop::MaxTokens => "max_tokens",
        Stop::ToolCalls => "tool_use",
        Stop::StopWord => "stop_sequence",
    };
    json!({
        "id": id(&content),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": null,
        "usage": usage(&reply.usage),
    })
}

/// Not if tools or the form of the answer were written into the text: that is for us to read.
fn same(raw: &Value, reply: &Reply) -> bool {
    let Some(blocks) = raw["content"].as_array() else {
        return false;
    };
    let words: String = blocks
        .iter()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    words == reply.text() && calls.count() == reply.tool_calls().count()
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Reasoning(Reasoning { text, raw }) => match raw {
            Some((Wire::Messages, raw)) => Some(raw.clone()),
            _ if text.is_empty() => None,
            _ => Some(json!({"type": "thinking", "thinking": text, "signature": UNSIGNED})),
        },
        Part::Image(_) | Part::ToolResult(_) => None,
        part => Writer {
            toolset: false,
            sees: true,
            marks: 0,
        }
        .block(part),
    }
}

/// The same answer has the same id, so that replays are alike.
fn id(content: &[Value]) -> String {
    let digest = Sha256::digest(Value::from(content).to_string());
    let hex: String = digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("msg_{hex}")
}

fn usage(usage: &Usage) -> Value {
    let apart = usage.cached_tokens.saturating_add(usage.cache_write_tokens);
    json!({
        "input_tokens": usage.input_tokens.saturating_sub(apart),
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
    })
}

/// Names and data, in order.
pub(super) fn stream(model: &str, answer: &Reply) -> Vec<(Option<String>, String)> {
    let whole = reply(model, answer);
    let blocks = whole["content"].as_array().cloned().unwrap_or_default();
    let mut start = whole.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["stop_sequence"] = Value::Null;
    if start["usage"].is_object() {
        start["usage"]["output_tokens"] = 0.into();
    }
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in blocks.into_iter().enumerate() {
        let (begin, deltas) = taken_apart(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let mut delta = Map::new();
    for key in ["stop_reason", "stop_sequence", "stop_details"] {
        if let Some(value) = whole.get(key) {
            delta.insert(key.to_owned(), value.clone());
        }
    }
    events.push(json!({"type": "message_delta", "delta": delta, "usage": whole["usage"]}));
    events.push(json!({"type": "message_stop"}));
    let named = |event: Value| (event["type"].as_str().map(str::to_owned), event.to_string());
    events.into_iter().map(named).collect()
}

/// A block as it begins, and what is added to it.
fn taken_apart(mut block: Value) -> (Value, Vec<Value>) {
    let mut take = |key: &str, empty: Value| {
        let value = block.get_mut(key)?;
        Some(std::mem::replace(value, empty))
    };
    let deltas = [
        take("text", json!("")).map(|text| json!({"type": "text_delta", "text": text})),
        take("thinking", json!("")).map(|text| json!({"type": "thinking_delta", "thinking": text})),
        take("signature", json!(""))
            .map(|text| json!({"type": "signature_delta", "signature": text})),
        take("input", json!({}))
            .map(|input| json!({"type": "input_json_delta", "partial_json": input.to_string()})),
    ];
    (block, deltas.into_iter().flatten().collect())
}
