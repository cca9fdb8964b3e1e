//! Messages as the contents of this API. Parts with signatures go back as they came; pictures of results
//! are part of them where the model takes that, and follow them otherwise.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::traits::Traits;
use crate::message::{Image, Message, Part, Role, ToolCall, ToolResult};
use crate::picture;
use crate::spec::Wire;
use crate::wire::object::object;

/// Ids that were made here are not told to the provider, which knows no id for such a call.
pub(super) const OWN_ID: &str = "agon_";
/// Stands for the signature of a call that another model made.
const FOREIGN: &str = "skip_thought_signature_validator";
/// Said instead of a picture to a model that can't see.
const UNSEEN: &str = "[a picture that you can't see]";

#[derive(Debug, Clone, Copy)]
pub(super) struct Writer {
    pub(super) traits: Traits,
    /// Pictures are sent.
    pub(super) sees: bool,
}

impl Writer {
    pub(super) fn contents(self, messages: &[Message]) -> Vec<Value> {
        let mut turns: Vec<(Role, Vec<Value>)> = Vec::new();
        let mut names: HashMap<&str, &str> = HashMap::new();
        for message in messages {
            let mut results = Vec::new();
            let mut pictures = Vec::new();
            let mut parts = Vec::new();
            let mut called = false;
            for part in &message.parts {
                match part {
                    Part::ToolCall(call) => {
                        names.insert(&call.id, &call.name);
                        parts.push(self.call(call, !called));
                        called = true;
                    }
                    Part::ToolResult(result) => {
                        results.push(self.result(result, &names, &mut pictures));
                    }
                    part => parts.extend(self.part(part)),
                }
            }
            // Results stand in one piece, before what else is said.
            results.append(&mut pictures);
            results.append(&mut parts);
            let mut parts = results;
            if parts.is_empty() {
                continue;
            }
            match turns.last_mut() {
                Some((role, before)) if *role == message.role => before.append(&mut parts),
                _ => turns.push((message.role, parts)),
            }
        }
        turns
            .into_iter()
            .map(|(role, parts)| {
                let role = match role {
                    Role::User => "user",
                    Role::Assistant => "model",
                };
                object([("role", role.into()), ("parts", parts.into())])
            })
            .collect()
    }

    fn part(self, part: &Part) -> Option<Value> {
        match part {
            Part::Text(text) if text.is_empty() => None,
            Part::Text(text) => Some(json!({"text": text})),
            Part::Image(image) if self.sees => Some(inline(image)),
            Part::Image(_) => Some(json!({"text": UNSEEN})),
            Part::Reasoning(reasoning) => match &reasoning.raw {
                Some((Wire::Gemini, raw)) => Some(raw.clone()),
                _ => None,
            },
            Part::Other { wire, value } => (*wire == Wire::Gemini).then(|| value.clone()),
            Part::ToolCall(_) | Part::ToolResult(_) => None,
        }
    }

    /// Only the first call of a turn carries a signature.
    fn call(self, call: &ToolCall, first: bool) -> Value {
        if let Some((Wire::Gemini, raw)) = &call.raw {
            return raw.clone();
        }
        let args = match &call.input {
            Value::Object(args) => args.clone(),
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other.clone())]),
        };
        let mut inner = json!({"name": call.name, "args": args});
        put_id(&mut inner, &call.id);
        let mut part = json!({"functionCall": inner});
        if first && self.traits.wants_signatures() {
            part["thoughtSignature"] = FOREIGN.into();
        }
        part
    }

    fn result(
        self,
        result: &ToolResult,
        names: &HashMap<&str, &str>,
        after: &mut Vec<Value>,
    ) -> Value {
        let mut texts = Vec::new();
        let mut pictures = Vec::new();
        for part in &result.parts {
            match part {
                Part::Text(text) => texts.push(text.as_str()),
                Part::Image(image) if self.sees => pictures.push(inline(image)),
                Part::Image(_) => texts.push(UNSEEN),
                _ => {}
            }
        }
        let key = if result.is_error { "error" } else { "output" };
        let name = match result.name.as_str() {
            "" => names.get(result.call.as_str()).copied().unwrap_or("tool"),
            name => name,
        };
        let response = object([(key, texts.join("\n").into())]);
        let mut inner = object([("name", name.into()), ("response", response)]);
        put_id(&mut inner, &result.call);
        if !pictures.is_empty() && self.traits.sees_results() {
            inner["parts"] = pictures.into();
        } else {
            after.append(&mut pictures);
        }
        object([("functionResponse", inner)])
    }
}

fn put_id(value: &mut Value, id: &str) {
    if !id.is_empty() && !id.starts_with(OWN_ID) {
        value["id"] = id.into();
    }
}

fn inline(image: &Image) -> Value {
    let data = object([
        ("mimeType", image.media.name().into()),
        ("data", picture::base64(&image.bytes).into()),
    ]);
    object([("inlineData", data)])
}
