//! Actions that were given beforehand, as calls that the model would have made: so that it can go on from
//! there.

use agon_core::Action;
use agon_llm::{Part, ToolCall};
use serde_json::{Value, json};

use super::tools::ToolKind;

/// What the model would have said for an action.
pub(super) fn said(action: &Action) -> Part {
    let call = |tool: ToolKind, input: Value| {
        Part::ToolCall(ToolCall {
            id: String::new(),
            name: tool.name().to_owned(),
            input,
            raw: None,
        })
    };
    match action {
        Action::Message { text } => Part::Text(text.clone()),
        Action::Run {
            command,
            input,
            timeout,
            wait,
        } => {
            let mut given = json!({"command": command});
            if *input {
                given["is_input"] = json!("true");
            }
            if let Some(seconds) = wait.or(*timeout) {
                given["timeout"] = json!(seconds.get());
            }
            call(ToolKind::Bash, given)
        }
        Action::Cell { code } => call(ToolKind::Ipython, json!({"code": code})),
        Action::Browse { code } => call(ToolKind::Browser, json!({"code": code})),
        Action::Think { thought } => call(ToolKind::Think, json!({"thought": thought})),
        Action::Finish { result } => call(ToolKind::Finish, json!({"message": result})),
        Action::Read { path, lines } => call(
            ToolKind::Editor,
            match lines {
                Some(lines) => json!({"command": "view", "path": path, "view_range": lines}),
                None => json!({"command": "view", "path": path}),
            },
        ),
        Action::Write { path, content, .. } => call(
            ToolKind::Editor,
            json!({"command": "create", "path": path, "file_text": content}),
        ),
        Action::Edit { path, old, new } => call(
            ToolKind::Editor,
            json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new}),
        ),
        Action::Insert { path, line, text } => call(
            ToolKind::Editor,
            json!({"command": "insert", "path": path, "insert_line": line, "new_str": text}),
        ),
        Action::Undo { path } => call(
            ToolKind::Editor,
            json!({"command": "undo_edit", "path": path}),
        ),
        // No tool does this: the model is told in words that it was done.
        other => Part::Text(format!(
            "I did: {}",
            serde_json::to_string(other).unwrap_or_else(|_| other.kind().to_string())
        )),
    }
}
