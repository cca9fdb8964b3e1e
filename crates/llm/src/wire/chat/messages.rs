//! Messages as chat completions want them: results of tools are messages of their own, which hold no
//! pictures; those follow in a message of the user.

use serde_json::{Map, Value, json};

use crate::error::LlmError;
use crate::message::{Image, Message, Part, Role, ToolCall, ToolResult};
use crate::request::Request;
use crate::spec::{ModelSpec, Wire};
use crate::wire::body::foreign;
use crate::wire::known::{Known, known};
use crate::wire::object::object;
use crate::wire::{arguments, data_url};

/// Said instead of a picture to a model that can't see.
const UNSEEN: &str = "[a picture, which this model can't see]";
/// Anthropic takes no more marks.
const MARKS: usize = 4;

pub(super) fn write(spec: &ModelSpec, request: &Request) -> Result<Vec<Value>, LlmError> {
    let mut writer = Writer {
        known: known(spec),
        marks: spec.settings.caching_prompt,
        out: Vec::new(),
        pending: Vec::new(),
    };
    if let Some(system) = &request.system {
        writer
            .out
            .push(json!({"role": "system", "content": system}));
    }
    // The last marks hold the longest prefixes.
    let marked = request
        .messages
        .iter()
        .filter(|message| message.cache)
        .count();
    let mut skip = marked.saturating_sub(MARKS);
    for message in &request.messages {
        let mark = message.cache && skip == 0;
        if message.cache {
            skip = skip.saturating_sub(1);
        }
        match message.role {
            Role::User => writer.user(message, mark)?,
            Role::Assistant => writer.assistant(message),
        }
    }
    writer.flush();
    Ok(writer.out)
}

struct Writer {
    known: Known,
    marks: bool,
    out: Vec<Value>,
    /// Pictures of results, until all results of the calls before are written.
    pending: Vec<Value>,
}

impl Writer {
    fn user(&mut self, message: &Message, mark: bool) -> Result<(), LlmError> {
        let mut content = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolResult(result) => self.result(result),
                Part::Text(text) => content.push(json!({"type": "text", "text": text})),
                Part::Image(image) if self.known.vision => content.push(picture(image)),
                Part::Image(_) => content.push(json!({"type": "text", "text": UNSEEN})),
                Part::Other {
                    wire: Wire::Chat,
                    value,
                } => content.push(value.clone()),
                Part::Other { wire, .. } => return Err(foreign(*wire)),
                Part::ToolCall(_) | Part::Reasoning(_) => {}
            }
        }
        let alone = message
            .parts
            .iter()
            .all(|part| matches!(part, Part::ToolResult(_)));
        if !(content.is_empty() && alone) {
            self.pending.append(&mut content);
            self.flush();
        }
        if mark && self.marks && self.known.cache_marks {
            self.mark();
        }
        Ok(())
    }

    fn mark(&mut self) {
        let Some(content) = self.out.last_mut().and_then(|last| last.get_mut("content")) else {
            return;
        };
        if let Value::String(text) = content {
            *content = json!([{"type": "text", "text": text}]);
        }
        if let Some(Value::Object(last)) = content.as_array_mut().and_then(|all| all.last_mut()) {
            last.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let mut texts = Vec::new();
        let mut pictures = Vec::new();
        for part in &result.parts {
            match part {
                Part::Text(text) => texts.push(text.as_str()),
                Part::Image(image) if self.known.vision => pictures.push(picture(image)),
                Part::Image(_) => texts.push(UNSEEN),
                _ => {}
            }
        }
        let mut text = texts.join("\n");
        if text.is_empty() && !pictures.is_empty() {
            "The result is the picture in the next message.".clone_into(&mut text);
        }
        if result.is_error {
            text.insert_str(0, "Error: ");
        }
        self.out
            .push(json!({"role": "tool", "tool_call_id": result.call, "content": text}));
        if !pictures.is_empty() {
            let about = format!(
                "Picture from the result of {} ({}):",
                result.name, result.call
            );
            self.pending.push(json!({"type": "text", "text": about}));
            self.pending.append(&mut pictures);
        }
    }

    /// Everything that waits becomes a message of the user. Lone text is sent plainly, since small
    /// servers understand that best.
    fn flush(&mut self) {
        let parts = std::mem::take(&mut self.pending);
        let content = match parts.as_slice() {
            [] => return,
            [only]
                if only.get("type") == Some(&json!("text"))
                    && only.get("cache_control").is_none() =>
            {
                only.get("text").cloned().unwrap_or_default()
            }
            _ => parts.into(),
        };
        self.out
            .push(object([("role", "user".into()), ("content", content)]));
    }

    fn assistant(&mut self, message: &Message) {
        self.flush();
        let mut made = Map::new();
        let mut text = None::<String>;
        let mut calls = Vec::new();
        let mut thoughts = Map::new();
        for part in &message.parts {
            match part {
                Part::Text(more) => text.get_or_insert_default().push_str(more),
                Part::ToolCall(call) => calls.push(write_call(call)),
                Part::Reasoning(reasoning) => {
                    if let Some((Wire::Chat, Value::Object(raw))) = &reasoning.raw {
                        thoughts.extend(raw.clone());
                    }
                }
                _ => {}
            }
        }
        // What OpenRouter signed is checked by the provider behind it; others get thoughts back only
        // where a tool call belongs to them.
        let wanted = self.known.reasoning_back && !calls.is_empty();
        if !wanted {
            thoughts.retain(|key, _| key == "reasoning_details");
        }
        made.append(&mut thoughts);
        made.insert("role".to_owned(), "assistant".into());
        let content = match text {
            Some(text) => text.into(),
            None if calls.is_empty() => "".into(),
            None => Value::Null,
        };
        made.insert("content".to_owned(), content);
        if !calls.is_empty() {
            made.insert("tool_calls".to_owned(), calls.into());
        }
        self.out.push(made.into());
    }
}

fn picture(image: &Image) -> Value {
    let url = data_url::write(image).into();
    let inner = object([("url", url), ("detail", "auto".into())]);
    object([("type", "image_url".into()), ("image_url", inner)])
}

fn write_call(call: &ToolCall) -> Value {
    if let Some((Wire::Chat, raw)) = &call.raw {
        return raw.clone();
    }
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments::write(&call.input)},
    })
}
