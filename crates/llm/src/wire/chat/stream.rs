//! The chunks of a streamed answer, put together to the body that would have come at once.

use agon_core::ModelFault;
use serde_json::{Map, Value, json};

use crate::client::Delta;
use crate::error::LlmError;
use crate::wire::body::{event, list, room, text, too_large};
use crate::wire::contract::Assembler;
use crate::wire::fault;

/// More calls in one answer are no answer.
const MOST_CALLS: usize = 1_024;
/// The same for the size of everything together.
const LARGEST: usize = 64 << 20;
/// Of events with probabilities of tokens, which take several times their length in memory.
const LARGEST_LOGPROBS: usize = 32 << 20;

#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// `id`, `model` and the like, as first seen.
    top: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Map<String, Value>>,
    details: Vec<Value>,
    annotations: Vec<Value>,
    /// `content` and `refusal`, token by token.
    logprobs: Map<String, Value>,
    logprobs_bytes: usize,
    /// `finish_reason` and the like.
    choice: Map<String, Value>,
    usage: Option<Value>,
    done: bool,
    bytes: usize,
}

impl Assembler for Chunks {
    fn event(&mut self, _: Option<&str>, data: &str) -> Result<Option<Delta>, LlmError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(None);
        }
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > LARGEST {
            return Err(too_large());
        }
        let chunk = event(data)?;
        if let Some(error) = fault::of_value(None, &chunk) {
            return Err(error);
        }
        for key in [
            "id",
            "model",
            "created",
            "system_fingerprint",
            "provider",
            "service_tier",
        ] {
            if let (Some(value), None) = (chunk.get(key), self.top.get(key)) {
                self.top.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        let first = |choice: &&Value| choice.get("index").is_none_or(|index| index == 0);
        let Some(choice) = list(&chunk, "choices").iter().find(first) else {
            return Ok(None);
        };
        for key in ["finish_reason", "stop_reason"] {
            if let Some(value) = choice.get(key).filter(|value| !value.is_null()) {
                self.choice.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(Value::Object(logprobs)) = choice.get("logprobs") {
            self.logprobs_bytes += data.len();
            if self.logprobs_bytes > LARGEST_LOGPROBS {
                let why = "the probabilities of its tokens are too many";
                return Err(LlmError::new(ModelFault::BrokenResponse, why).of_bound());
            }
            for (key, value) in logprobs {
                let Value::Array(more) = value else { continue };
                let all = self
                    .logprobs
                    .entry(key.clone())
                    .or_insert_with(|| json!([]));
                if let Some(all) = all.as_array_mut() {
                    all.extend_from_slice(more);
                }
            }
        }
        match choice.get("delta") {
            Some(delta) => self.delta(delta),
            None => Ok(None),
        }
    }

    fn finish(self: Box<Self>) -> Result<Value, LlmError> {
        let Self {
            mut top,
            mut message,
            calls,
            details,
            annotations,
            logprobs,
            mut choice,
            usage,
            done,
            ..
        } = *self;
        if !done && !choice.contains_key("finish_reason") {
            let why = "the stream ended before the answer was complete";
            return Err(LlmError::new(ModelFault::Network, why));
        }
        message.insert("role".to_owned(), "assistant".into());
        message.entry("content").or_insert(Value::Null);
        if !calls.is_empty() {
            let calls: Vec<Value> = calls.into_iter().map(Value::Object).collect();
            message.insert("tool_calls".to_owned(), calls.into());
        }
        if !details.is_empty() {
            message.insert("reasoning_details".to_owned(), details.into());
        }
        if !annotations.is_empty() {
            message.insert("annotations".to_owned(), annotations.into());
        }
        if !logprobs.is_empty() {
            choice.insert("logprobs".to_owned(), logprobs.into());
        }
        choice.insert("index".to_owned(), 0.into());
        choice.entry("finish_reason").or_insert("stop".into());
        choice.insert("message".to_owned(), message.into());
        top.insert("object".to_owned(), "chat.completion".into());
        top.insert("choices".to_owned(), json!([choice]));
        if let Some(usage) = usage {
            top.insert("usage".to_owned(), usage);
        }
        Ok(top.into())
    }
}

impl Chunks {
    fn delta(&mut self, delta: &Value) -> Result<Option<Delta>, LlmError> {
        let mut shown = None;
        for key in ["reasoning_content", "reasoning", "refusal", "content"] {
            if let Some(more) = text(delta, key) {
                append(&mut self.message, key, more);
                shown = match key {
                    "content" => Some(Delta::Text(more.to_owned())),
                    "refusal" => shown,
                    _ => Some(Delta::Reasoning(more.to_owned())),
                };
            }
        }
        // Mistral's thinking models send parts.
        for part in list(delta, "content") {
            if let Some(more) = text(part, "text") {
                append(&mut self.message, "content", more);
                shown = Some(Delta::Text(more.to_owned()));
            }
            for thought in list(part, "thinking")
                .iter()
                .filter_map(|part| text(part, "text"))
            {
                append(&mut self.message, "reasoning_content", thought);
                shown = Some(Delta::Reasoning(thought.to_owned()));
            }
        }
        for detail in list(delta, "reasoning_details") {
            self.detail(detail)?;
        }
        for annotation in list(delta, "annotations") {
            room(self.annotations.len())?;
            self.annotations.push(annotation.clone());
        }
        for call in list(delta, "tool_calls") {
            self.call(call)?;
        }
        Ok(shown)
    }

    /// Pieces of one thought have the same index and type.
    fn detail(&mut self, detail: &Value) -> Result<(), LlmError> {
        let same = |last: &Map<String, Value>| {
            let same = |key: &str| last.get(key) == detail.get(key);
            last.contains_key("index") && same("index") && same("type")
        };
        match (self.details.last_mut(), detail) {
            (Some(Value::Object(last)), Value::Object(detail)) if same(last) => {
                for (key, value) in detail {
                    match (key.as_str(), value) {
                        ("text" | "summary" | "data", Value::String(more)) => {
                            append(last, key, more)
                        }
                        (_, Value::Null) => {}
                        _ => {
                            last.insert(key.clone(), value.clone());
                        }
                    }
                }
            }
            _ => {
                room(self.details.len())?;
                self.details.push(detail.clone());
            }
        }
        Ok(())
    }

    fn call(&mut self, piece: &Value) -> Result<(), LlmError> {
        let broken = |why: &str| LlmError::new(ModelFault::BrokenResponse, why);
        // Services that send whole calls may leave the index out.
        let index = match piece.get("index") {
            Some(index) => index.as_u64().and_then(|index| usize::try_from(index).ok()),
            None if text(piece, "id").is_some() => Some(self.calls.len()),
            None => Some(self.calls.len().saturating_sub(1)),
        };
        let index = index.ok_or_else(|| broken("a streamed tool call has no usable index"))?;
        if index >= MOST_CALLS {
            return Err(broken("the streamed answer has too many tool calls").of_bound());
        }
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, Map::new);
        }
        let (Some(call), Some(piece)) = (self.calls.get_mut(index), piece.as_object()) else {
            return Err(broken("a streamed tool call is no object"));
        };
        for (key, value) in piece {
            match (key.as_str(), value) {
                ("function" | "custom", Value::Object(more)) => {
                    let function = call.entry(key.clone()).or_insert_with(|| json!({}));
                    let Some(function) = function.as_object_mut() else {
                        continue;
                    };
                    for (key, value) in more {
                        match (key.as_str(), value) {
                            ("arguments" | "input", Value::String(more)) => {
                                append(function, key, more);
                            }
                            (_, Value::Null) => {}
                            _ => {
                                function.insert(key.clone(), value.clone());
                            }
                        }
                    }
                }
                ("index", _) | (_, Value::Null) => {}
                // The id is said once; some services repeat it empty.
                (_, Value::String(empty)) if empty.is_empty() => {}
                _ => {
                    call.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(())
    }
}

fn append(to: &mut Map<String, Value>, key: &str, more: &str) {
    match to.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            to.insert(key.to_owned(), more.into());
        }
    }
}
