//! The events of a streamed answer, put together to the body that would have come otherwise.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use agon_core::ModelFault;
use serde_json::{Map, Value};

use super::fault::of_error;
use crate::client::Delta;
use crate::error::LlmError;
use crate::wire::body::{event, room};
use crate::wire::contract::Assembler;
use crate::wire::overlay::overlay;

#[derive(Debug, Default)]
pub(super) struct Assembling {
    message: Option<Map<String, Value>>,
    blocks: BTreeMap<u64, Block>,
    citations: usize,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    start: Map<String, Value>,
    /// What was added to `text` or `thinking`, and the JSON of an input, in pieces.
    text: String,
    thinking: String,
    signature: String,
    input: String,
    citations: Vec<Value>,
}

fn broken(why: impl std::fmt::Display) -> LlmError {
    LlmError::new(ModelFault::BrokenResponse, why)
}

impl Assembler for Assembling {
    fn event(&mut self, _: Option<&str>, data: &str) -> Result<Option<Delta>, LlmError> {
        let event = event(data)?;
        match event["type"].as_str().unwrap_or_default() {
            "error" => return Err(of_error(None, &event)),
            "message_start" => self.message = event["message"].as_object().cloned(),
            "content_block_start" => {
                let block = self.block(&event)?;
                block.start = event["content_block"]
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
                return Ok(shown(&event["content_block"], "text", "thinking"));
            }
            "content_block_delta" => {
                if event["delta"]["type"] == "citations_delta" {
                    room(self.citations)?;
                    self.citations += 1;
                }
                self.block(&event)?.add(&event["delta"]);
                return Ok(shown(&event["delta"], "text", "thinking"));
            }
            "message_delta" => self.ending(&event),
            "message_stop" => self.ended = true,
            // `ping`, `content_block_stop`, and what is not known yet.
            _ => {}
        }
        Ok(None)
    }

    fn finish(self: Box<Self>) -> Result<Value, LlmError> {
        if !self.ended {
            return Err(LlmError::new(
                ModelFault::Network,
                "the stream ended before the answer did",
            ));
        }
        let mut message = self
            .message
            .ok_or_else(|| broken("the stream had no `message_start`"))?;
        let content: Vec<Value> = self.blocks.into_values().map(Block::finish).collect();
        message.insert("content".to_owned(), content.into());
        Ok(message.into())
    }
}

impl Assembling {
    fn block(&mut self, event: &Value) -> Result<&mut Block, LlmError> {
        let known = self.blocks.len();
        match self.blocks.entry(index(event)) {
            Entry::Occupied(block) => Ok(block.into_mut()),
            Entry::Vacant(place) => {
                room(known)?;
                Ok(place.insert(Block::default()))
            }
        }
    }

    /// Why it stopped, and the final counts.
    fn ending(&mut self, event: &Value) {
        let Some(message) = &mut self.message else {
            return;
        };
        if let Some(delta) = event["delta"].as_object() {
            overlay(message, delta);
        }
        if let Some(usage) = event["usage"].as_object() {
            // Counts that it does not repeat come as null.
            let said = usage.iter().filter(|(_, count)| !count.is_null());
            let said = said
                .map(|(key, count)| (key.clone(), count.clone()))
                .collect();
            overlay(
                message,
                &Map::from_iter([("usage".to_owned(), Value::Object(said))]),
            );
        }
    }
}

impl Block {
    fn add(&mut self, delta: &Value) {
        let pieces = [
            ("text", &mut self.text),
            ("thinking", &mut self.thinking),
            ("signature", &mut self.signature),
            ("partial_json", &mut self.input),
        ];
        for (key, whole) in pieces {
            if let Some(piece) = delta[key].as_str() {
                whole.push_str(piece);
            }
        }
        if delta["type"] == "citations_delta" {
            self.citations.push(delta["citation"].clone());
        }
    }

    fn finish(self) -> Value {
        let mut block = self.start;
        let pieces = [
            ("text", self.text),
            ("thinking", self.thinking),
            ("signature", self.signature),
        ];
        for (key, more) in pieces {
            if !more.is_empty() {
                let begin = block.get(key).and_then(Value::as_str).unwrap_or_default();
                let whole = format!("{begin}{more}");
                block.insert(key.to_owned(), whole.into());
            }
        }
        if !self.input.is_empty() {
            // An input that was cut off by `max_tokens` is kept as text.
            let input = serde_json::from_str(&self.input);
            block.insert(
                "input".to_owned(),
                input.unwrap_or(Value::String(self.input)),
            );
        }
        if !self.citations.is_empty() {
            block.insert("citations".to_owned(), self.citations.into());
        }
        block.into()
    }
}

fn index(event: &Value) -> u64 {
    event["index"].as_u64().unwrap_or(0)
}

fn shown(value: &Value, text: &str, thinking: &str) -> Option<Delta> {
    let piece = |key: &str| {
        value[key]
            .as_str()
            .filter(|piece| !piece.is_empty())
            .map(str::to_owned)
    };
    piece(text)
        .map(Delta::Text)
        .or_else(|| piece(thinking).map(Delta::Reasoning))
}
