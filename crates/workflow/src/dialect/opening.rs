//! What an agent's model was told first: its system message, its tools, the task. Found in the body of the
//! first call, in any provider's form.

use agon_core::observation::ObservationKind;
use agon_core::{EventBody, Purpose};
use serde_json::Value;

use super::record::Record;

#[derive(Debug, Default)]
pub(super) struct Opening {
    pub(super) system: Option<String>,
    pub(super) tools: Option<Vec<Value>>,
    pub(super) task: Option<String>,
}

impl Opening {
    pub(super) fn of(record: &Record<'_>) -> Self {
        let first = record.events.iter().find_map(|event| match &event.body {
            EventBody::Model(call) if call.purpose == Purpose::Agent => call.request.as_ref(),
            _ => None,
        });
        let Some(body) = first.and_then(|request| record.bodies.said(request)) else {
            return Self {
                task: first_sight(record),
                ..Self::default()
            };
        };
        let messages = ["messages", "contents", "input"]
            .iter()
            .find_map(|key| body.get(key)?.as_array());
        let by = |role: &str| {
            let of_role = |message: &&Value| message.get("role").is_some_and(|r| r == role);
            let message = messages?.iter().find(of_role)?;
            words(message.get("content").or_else(|| message.get("parts"))?)
        };
        let apart = [
            "system",
            "instructions",
            "systemInstruction",
            "system_instruction",
        ]
        .iter()
        .find_map(|key| words(body.get(key)?));
        Self {
            system: apart.or_else(|| by("system")).or_else(|| by("developer")),
            tools: body.get("tools").and_then(Value::as_array).cloned(),
            task: by("user"),
        }
    }
}

/// An imported record keeps the task where others have the first look at the environment.
fn first_sight(record: &Record<'_>) -> Option<String> {
    record.events.iter().find_map(|event| match &event.body {
        EventBody::Observation(seen) if seen.kind == ObservationKind::Ready => {
            (!seen.text.is_empty()).then(|| seen.text.clone())
        }
        _ => None,
    })
}

/// Text of a content, whether it is a string, a list of parts or an object with such a list.
fn words(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            let texts: Vec<&str> = texts.collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(object) => words(object.get("parts")?),
        _ => None,
    }
}
