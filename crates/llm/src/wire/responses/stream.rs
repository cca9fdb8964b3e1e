//! The events of a streamed answer. The last one carries the whole body, so only that is kept, and the
//! finished items for services that leave them out of it.

use agon_core::ModelFault;
use serde_json::Value;

use crate::client::Delta;
use crate::error::LlmError;
use crate::wire::body::{event, list, room, text, too_large};
use crate::wire::contract::Assembler;
use crate::wire::fault;

/// More than this in one answer is no answer.
const LARGEST: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct Events {
    items: Vec<Value>,
    body: Option<Value>,
    bytes: usize,
}

impl Assembler for Events {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Option<Delta>, LlmError> {
        if data.trim() == "[DONE]" {
            return Ok(None);
        }
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > LARGEST {
            return Err(too_large());
        }
        let mut event = event(data)?;
        let kind = text(&event, "type").or(name).unwrap_or_default().to_owned();
        let taken = |event: &mut Value, key: &str| event.get_mut(key).map(Value::take);
        match kind.as_str() {
            "response.completed" | "response.incomplete" => {
                self.body = taken(&mut event, "response");
                Ok(None)
            }
            "response.failed" | "error" => {
                let about = taken(&mut event, "response").unwrap_or(event);
                Err(fault::of_value(None, &about)
                    .unwrap_or_else(|| LlmError::new(ModelFault::Overload, "the answer failed")))
            }
            "response.output_item.done" => {
                room(self.items.len())?;
                self.items.extend(taken(&mut event, "item"));
                Ok(None)
            }
            "response.output_text.delta" => {
                Ok(text(&event, "delta").map(|more| Delta::Text(more.to_owned())))
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                Ok(text(&event, "delta").map(|more| Delta::Reasoning(more.to_owned())))
            }
            _ => fault::of_value(None, &event).map_or(Ok(None), Err),
        }
    }

    fn finish(self: Box<Self>) -> Result<Value, LlmError> {
        let Some(mut body) = self.body else {
            let why = "the stream ended before the answer was complete";
            return Err(LlmError::new(ModelFault::Network, why));
        };
        if list(&body, "output").is_empty()
            && !self.items.is_empty()
            && let Some(body) = body.as_object_mut()
        {
            body.insert("output".to_owned(), self.items.into());
        }
        Ok(body)
    }
}
