//! An action of Agon's as one of OpenHands'. What OpenHands does not have is a call of a tool of that name.

use agon_core::Action as Core;
use serde_json::{Map, Value};

use crate::events::{
    Action, AgentFinishAction, AgentRejectAction, AgentThinkAction, BrowseInteractiveAction,
    CmdRunAction, FileEditAction, FileReadAction, FileWriteAction, IPythonRunCellAction, MCPAction,
    MessageAction, ReadSource,
};

/// `thought`: what the agent said beside it.
pub fn foreign_action(action: &Core, thought: &str) -> Action {
    let thought = thought.to_owned();
    match action {
        Core::Run {
            command,
            input,
            timeout,
            wait,
        } => CmdRunAction {
            command: command.clone(),
            is_input: *input,
            thought,
            blocking: wait.is_some(),
            timeout: wait.or(*timeout).map(agon_core::Seconds::get),
            ..CmdRunAction::default()
        }
        .into(),
        Core::Cell { code } => IPythonRunCellAction {
            thought,
            ..IPythonRunCellAction::new(code)
        }
        .into(),
        Core::Browse { code } => BrowseInteractiveAction {
            browser_actions: code.clone(),
            thought,
            ..BrowseInteractiveAction::default()
        }
        .into(),
        Core::Read { path, lines } => FileReadAction {
            path: path.clone(),
            thought,
            // Only with a range are lines numbered.
            impl_source: match lines {
                Some(_) => ReadSource::OhAci,
                None => ReadSource::Default,
            },
            view_range: lines.map(Vec::from),
            ..FileReadAction::default()
        }
        .into(),
        Core::Write {
            path,
            content,
            create: false,
        } => FileWriteAction {
            path: path.clone(),
            content: content.clone(),
            thought,
            ..FileWriteAction::default()
        }
        .into(),
        Core::Write { .. } | Core::Edit { .. } | Core::Insert { .. } | Core::Undo { .. } => {
            edit(action, thought).into()
        }
        Core::Message { text } => MessageAction {
            wait_for_response: true,
            ..MessageAction::new(text)
        }
        .into(),
        Core::Think { thought } => AgentThinkAction {
            thought: thought.clone(),
        }
        .into(),
        Core::Finish { result } => AgentFinishAction {
            final_thought: result.clone().unwrap_or_default(),
            outputs: outputs("content", result.as_deref()),
            thought,
        }
        .into(),
        Core::Reject { reason } => AgentRejectAction {
            outputs: outputs("reason", reason.as_deref()),
            thought,
        }
        .into(),
        other => tool(other, thought).into(),
    }
}

fn outputs(key: &str, value: Option<&str>) -> Map<String, Value> {
    let entry = value.map(|value| (key.to_owned(), Value::from(value)));
    entry.into_iter().collect()
}

fn edit(action: &Core, thought: String) -> FileEditAction {
    let of = |path: &str, command: &str| FileEditAction {
        path: path.to_owned(),
        command: command.to_owned(),
        thought,
        ..FileEditAction::default()
    };
    match action {
        Core::Write { path, content, .. } => FileEditAction {
            file_text: Some(content.clone()),
            ..of(path, "create")
        },
        Core::Edit { path, old, new } => FileEditAction {
            old_str: Some(old.clone()),
            new_str: Some(new.clone()),
            ..of(path, "str_replace")
        },
        Core::Insert { path, line, text } => FileEditAction {
            insert_line: Some(i64::try_from(*line).unwrap_or(i64::MAX)),
            new_str: Some(text.clone()),
            ..of(path, "insert")
        },
        Core::Undo { path } => of(path, "undo_edit"),
        _ => of("", ""),
    }
}

fn tool(action: &Core, thought: String) -> MCPAction {
    let mut arguments = match serde_json::to_value(action) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    arguments.remove("action");
    MCPAction {
        name: action.kind().name().to_owned(),
        arguments,
        thought,
        ..MCPAction::default()
    }
}
