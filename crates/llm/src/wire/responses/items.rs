//! Messages as the items of Responses, in the order in which they were said.

use std::collections::HashMap;

use agon_core::ModelFault;
use serde_json::{Map, Value, json};

use crate::error::LlmError;
use crate::message::{Image, Message, Part, Role, ToolCall, ToolResult};
use crate::request::Request;
use crate::spec::Wire;
use crate::wire::arguments;
use crate::wire::body::{foreign, list, text};
use crate::wire::data_url;
use crate::wire::known::{Computer, Known};
use crate::wire::object::object;

/// Said instead of a picture to a model that can't see.
const UNSEEN: &str = "[a picture, which this model can't see]";

pub(super) fn write(known: &Known, request: &Request) -> Result<Vec<Value>, LlmError> {
    let mut writer = Writer {
        known,
        out: Vec::new(),
        calls: HashMap::new(),
    };
    for message in &request.messages {
        match message.role {
            Role::User => writer.user(message)?,
            Role::Assistant => writer.assistant(message),
        }
    }
    Ok(writer.out)
}

struct Writer<'a> {
    known: &'a Known,
    out: Vec<Value>,
    /// Calls of the provider's own tools, by id: their results have forms of their own.
    calls: HashMap<&'a str, &'a Value>,
}

impl<'a> Writer<'a> {
    fn user(&mut self, message: &Message) -> Result<(), LlmError> {
        let mut content = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => content.push(json!({"type": "input_text", "text": text})),
                Part::Image(image) => content.push(self.picture(image)),
                Part::ToolResult(result) => {
                    self.say(&mut content);
                    self.result(result)?;
                }
                Part::Other {
                    wire: Wire::Responses,
                    value,
                } => {
                    let inside = text(value, "type").is_some_and(|kind| kind.starts_with("input_"));
                    if inside {
                        content.push(value.clone());
                    } else {
                        self.say(&mut content);
                        self.out.push(value.clone());
                    }
                }
                Part::Other { wire, .. } => return Err(foreign(*wire)),
                Part::ToolCall(_) | Part::Reasoning(_) => {}
            }
        }
        self.say(&mut content);
        Ok(())
    }

    fn say(&mut self, content: &mut Vec<Value>) {
        if !content.is_empty() {
            let content = std::mem::take(content).into();
            self.out.push(object([
                ("type", "message".into()),
                ("role", "user".into()),
                ("content", content),
            ]));
        }
    }

    fn picture(&self, image: &Image) -> Value {
        if self.known.vision {
            object([
                ("type", "input_image".into()),
                ("image_url", data_url::write(image).into()),
                ("detail", "auto".into()),
            ])
        } else {
            json!({"type": "input_text", "text": UNSEEN})
        }
    }

    fn result(&mut self, result: &ToolResult) -> Result<(), LlmError> {
        let call = self.calls.get(result.call.as_str()).copied();
        match call.and_then(|call| Some((call, text(call, "type")?))) {
            Some((call, "computer_call")) => self.screenshot(call, result),
            Some((_, "custom_tool_call")) => {
                self.output("custom_tool_call_output", result);
                Ok(())
            }
            _ => {
                self.output("function_call_output", result);
                Ok(())
            }
        }
    }

    fn output(&mut self, kind: &str, result: &ToolResult) {
        let mut content = Vec::new();
        if result.is_error {
            content.push(json!({"type": "input_text", "text": "Error:"}));
        }
        for part in &result.parts {
            match part {
                Part::Text(text) => content.push(json!({"type": "input_text", "text": text})),
                Part::Image(image) => content.push(self.picture(image)),
                _ => {}
            }
        }
        let plain = content
            .iter()
            .all(|part| text(part, "type") == Some("input_text"));
        let output = if plain {
            let texts = content.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n").into()
        } else {
            Value::from(content)
        };
        self.out.push(object([
            ("type", kind.into()),
            ("call_id", result.call.as_str().into()),
            ("output", output),
        ]));
    }

    /// The result of OpenAI's own tool is a picture of the screen, and nothing else; words follow as a
    /// message.
    fn screenshot(&mut self, call: &Value, result: &ToolResult) -> Result<(), LlmError> {
        let last = result.parts.iter().rev().find_map(|part| match part {
            Part::Image(image) => Some(image),
            _ => None,
        });
        let image = last.ok_or_else(|| {
            LlmError::new(
                ModelFault::BadRequest,
                "a call of the computer must be answered with a screenshot",
            )
        })?;
        let mut output = Map::new();
        output.insert("type".to_owned(), "computer_screenshot".into());
        output.insert("image_url".to_owned(), data_url::write(image).into());
        if self.known.computer == Computer::Batched {
            // Points are given in pixels of the picture, so it must not be scaled.
            output.insert("detail".to_owned(), "original".into());
        }
        let mut item = Map::new();
        item.insert("type".to_owned(), "computer_call_output".into());
        item.insert("call_id".to_owned(), result.call.as_str().into());
        item.insert("output".to_owned(), output.into());
        // The action was carried out, in a place where it can do no harm.
        let checks = list(call, "pending_safety_checks");
        if !checks.is_empty() {
            item.insert("acknowledged_safety_checks".to_owned(), checks.into());
        }
        self.out.push(item.into());
        let words = result.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(json!({"type": "input_text", "text": text})),
            _ => None,
        });
        let mut words = words.collect();
        self.say(&mut words);
        Ok(())
    }

    fn assistant(&mut self, message: &'a Message) {
        let mut content = Vec::new();
        let mut phase = None;
        for part in &message.parts {
            if let Part::Text(text) = part {
                content.push(json!({"type": "output_text", "text": text, "annotations": []}));
                continue;
            }
            self.said(&mut content, &mut phase);
            match part {
                Part::ToolCall(call) => self.call(call),
                Part::Reasoning(reasoning) => {
                    if let Some((Wire::Responses, raw)) = &reasoning.raw {
                        self.out.push(raw.clone());
                    }
                }
                Part::Other {
                    wire: Wire::Responses,
                    value,
                } => match value.get("phase") {
                    Some(of_next) if value.get("type").is_none() => phase = Some(of_next.clone()),
                    _ => self.out.push(value.clone()),
                },
                _ => {}
            }
        }
        self.said(&mut content, &mut phase);
    }

    fn said(&mut self, content: &mut Vec<Value>, phase: &mut Option<Value>) {
        if content.is_empty() {
            return;
        }
        let content = std::mem::take(content);
        let mut item = json!({"type": "message", "role": "assistant", "content": content});
        if let (Some(phase), Some(item)) = (phase.take(), item.as_object_mut()) {
            item.insert("phase".to_owned(), phase);
        }
        self.out.push(item);
    }

    fn call(&mut self, call: &'a ToolCall) {
        if let Some((Wire::Responses, raw)) = &call.raw {
            self.calls.insert(&call.id, raw);
            self.out.push(raw.clone());
            return;
        }
        self.out.push(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments::write(&call.input),
        }));
    }
}
