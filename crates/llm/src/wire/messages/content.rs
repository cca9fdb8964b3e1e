//! Messages as the blocks of this API: turns of one role are one message, results of tools come first,
//! and what a model thought goes back as it came.

use serde_json::{Map, Value, json};

use crate::message::{Image, Message, Part, Role, ToolCall, ToolResult};
use crate::picture;
use crate::spec::Wire;
use crate::wire::object::object;

/// The name of the tool for a screen, whatever form it has.
pub(super) const COMPUTER: &str = "computer";

/// Said instead of a picture to a model that can't see.
const UNSEEN: &str = "[a picture that you can't see]";

/// How messages are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer {
    /// Calls of the screen's tool are members of a toolset.
    pub(super) toolset: bool,
    /// Pictures are sent.
    pub(super) sees: bool,
    /// Marks for the cache that may be set.
    pub(super) marks: usize,
}

/// One message of the API while it is put together.
struct Turn {
    role: Role,
    results: Vec<Value>,
    blocks: Vec<Value>,
    mark: bool,
}

impl Writer {
    pub(super) fn messages(self, messages: &[Message]) -> Vec<Value> {
        let mut turns: Vec<Turn> = Vec::new();
        for message in messages {
            let mut turn = match turns.pop_if(|turn| turn.role == message.role) {
                Some(turn) => turn,
                None => Turn::new(message.role),
            };
            for part in &message.parts {
                match part {
                    Part::ToolResult(result) => turn.results.push(self.result(result)),
                    part => turn.blocks.extend(self.block(part)),
                }
            }
            turn.mark |= message.cache;
            turns.push(turn);
        }
        turns.retain(|turn| !turn.results.is_empty() || !turn.blocks.is_empty());
        let mut marks = self.marks;
        // The last ones are worth most: they hold everything before them.
        for turn in turns.iter_mut().rev().filter(|turn| turn.mark) {
            if marks == 0 {
                break;
            }
            if turn.set_mark() {
                marks -= 1;
            }
        }
        turns.into_iter().map(Turn::message).collect()
    }

    pub(super) fn block(self, part: &Part) -> Option<Value> {
        match part {
            // A block of blanks is refused.
            Part::Text(text) if text.trim().is_empty() => None,
            Part::Text(text) => Some(json!({"type": "text", "text": text})),
            Part::Image(image) if self.sees => Some(picture_block(image)),
            Part::Image(_) => Some(json!({"type": "text", "text": UNSEEN})),
            Part::ToolCall(call) => Some(self.call(call)),
            Part::ToolResult(result) => Some(self.result(result)),
            Part::Reasoning(reasoning) => match &reasoning.raw {
                Some((Wire::Messages, raw)) => Some(raw.clone()),
                // Without its signature it would be refused.
                _ => None,
            },
            Part::Other { wire, value } => (*wire == Wire::Messages).then(|| value.clone()),
        }
    }

    fn call(self, call: &ToolCall) -> Value {
        if let Some((Wire::Messages, raw)) = &call.raw {
            return raw.clone();
        }
        let mut input = match &call.input {
            Value::Object(input) => input.clone(),
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other.clone())]),
        };
        let id = id(&call.id);
        if self.toolset && call.name == COMPUTER {
            let action = input
                .remove("action")
                .unwrap_or_else(|| json!("screenshot"));
            return json!({
                "type": "tool_use", "id": id, "name": action, "input": input, "toolset_name": COMPUTER,
            });
        }
        json!({"type": "tool_use", "id": id, "name": call.name, "input": input})
    }

    fn result(self, result: &ToolResult) -> Value {
        let content: Vec<Value> = result
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Text(_) | Part::Image(_) | Part::Other { .. }))
            .filter_map(|part| self.block(part))
            .collect();
        let mut block = object([
            ("type", "tool_result".into()),
            ("tool_use_id", id(&result.call).into()),
            ("content", content.into()),
        ]);
        if result.is_error {
            block["is_error"] = true.into();
        }
        if self.toolset && result.name == COMPUTER {
            block["toolset_name"] = COMPUTER.into();
        }
        block
    }
}

impl Turn {
    const fn new(role: Role) -> Self {
        Self {
            role,
            results: Vec::new(),
            blocks: Vec::new(),
            mark: false,
        }
    }

    /// On the last block that can have one.
    fn set_mark(&mut self) -> bool {
        let markable = |block: &&mut Value| {
            let kind = block["type"].as_str();
            !matches!(kind, None | Some("thinking" | "redacted_thinking"))
        };
        let blocks = self.results.iter_mut().chain(&mut self.blocks);
        let block = blocks.rev().find(markable);
        block.is_some_and(mark)
    }

    fn message(mut self) -> Value {
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        self.results.append(&mut self.blocks);
        object([("role", role.into()), ("content", self.results.into())])
    }
}

pub(super) fn mark(block: &mut Value) -> bool {
    let Some(block) = block.as_object_mut() else {
        return false;
    };
    block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    true
}

fn picture_block(image: &Image) -> Value {
    let source = object([
        ("type", "base64".into()),
        ("media_type", image.media.name().into()),
        ("data", picture::base64(&image.bytes).into()),
    ]);
    object([("type", "image".into()), ("source", source)])
}

/// Ids of other providers may have characters that are refused here.
fn id(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id: String = id
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if id.is_empty() { "call".to_owned() } else { id }
}

/// The one name for calls of the screen's tool: members of a toolset come with names of their own.
pub(super) fn unified_call(block: &Value) -> (String, Value) {
    let name = block["name"].as_str().unwrap_or_default();
    let input = block.get("input").cloned().unwrap_or(Value::Null);
    if block["toolset_name"] != COMPUTER {
        return (name.to_owned(), input);
    }
    let mut input = match input {
        Value::Object(input) => input,
        _ => Map::new(),
    };
    input.insert("action".to_owned(), name.into());
    (COMPUTER.to_owned(), input.into())
}
