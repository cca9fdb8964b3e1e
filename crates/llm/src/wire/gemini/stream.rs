//! The events of a streamed answer, each an answer of its own, put together to one.

use agon_core::ModelFault;
use serde_json::{Map, Value, json};

use super::fault::of_error;
use crate::client::Delta;
use crate::error::LlmError;
use crate::wire::body::{event, room};
use crate::wire::contract::Assembler;

#[derive(Debug, Default)]
pub(super) struct Assembling {
    /// Everything but the candidate, as it was said last.
    body: Map<String, Value>,
    candidate: Map<String, Value>,
    parts: Vec<Value>,
    ended: bool,
}

impl Assembler for Assembling {
    fn event(&mut self, _: Option<&str>, data: &str) -> Result<Option<Delta>, LlmError> {
        let event = event(data)?;
        if event["error"].is_object() || event[0]["error"].is_object() {
            return Err(of_error(None, &event));
        }
        let mut text = String::new();
        let mut thought = String::new();
        let candidate = &event["candidates"][0];
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let shown = if part["thought"] == true {
                &mut thought
            } else {
                &mut text
            };
            shown.push_str(part["text"].as_str().unwrap_or_default());
            self.add(part)?;
        }
        keep(&mut self.candidate, candidate, "content")?;
        keep(&mut self.body, &event, "candidates")?;
        self.ended |= candidate["finishReason"].is_string()
            || event["promptFeedback"]["blockReason"].is_string();
        Ok(if !text.is_empty() {
            Some(Delta::Text(text))
        } else {
            (!thought.is_empty()).then_some(Delta::Reasoning(thought))
        })
    }

    fn finish(self: Box<Self>) -> Result<Value, LlmError> {
        if !self.ended {
            return Err(LlmError::new(
                ModelFault::Network,
                "the stream ended before the answer did",
            ));
        }
        let Self {
            mut body,
            mut candidate,
            parts,
            ..
        } = *self;
        if !candidate.is_empty() || !parts.is_empty() {
            let content = json!({"role": "model", "parts": parts});
            candidate.insert("content".to_owned(), content);
            body.insert("candidates".to_owned(), json!([candidate]));
        }
        Ok(body.into())
    }
}

impl Assembling {
    /// Pieces of one text become one part again; a signature ends it.
    fn add(&mut self, part: &Value) -> Result<(), LlmError> {
        let plain =
            |part: &Value| part["text"].is_string() && part.get("thoughtSignature").is_none();
        let last = self.parts.last_mut().filter(|last| plain(last));
        if let (Some(last), Some(more)) = (last, part["text"].as_str())
            && last["thought"] == part["thought"]
        {
            if let Value::String(text) = &mut last["text"] {
                text.push_str(more);
            }
            if let Some(signature) = part.get("thoughtSignature") {
                last["thoughtSignature"] = signature.clone();
            }
            return Ok(());
        }
        if part.is_object() {
            room(self.parts.len())?;
            self.parts.push(part.clone());
        }
        Ok(())
    }
}

/// What is said last counts; `but` is kept elsewhere.
fn keep(all: &mut Map<String, Value>, said: &Value, but: &str) -> Result<(), LlmError> {
    for (key, value) in said.as_object().into_iter().flatten() {
        if key != but {
            room(all.len())?;
            all.insert(key.clone(), value.clone());
        }
    }
    Ok(())
}
