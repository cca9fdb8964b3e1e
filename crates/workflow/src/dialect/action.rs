//! An action of OpenHands as one of Agon's.

use agon_core::{Action as Core, ActionKind, Seconds};
use serde_json::Value;

use crate::events::{
    Action, AgentFinishAction, CmdRunAction, EditSource, FileEditAction, FileReadAction,
    FileWriteAction, IPythonRunCellAction, MCPAction, ReadSource, TaskTrackingAction,
};

/// All lines of a file, with their numbers.
const WHOLE: [i64; 2] = [1, -1];

/// Why there is no action of Agon's that does the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCoreAction {
    #[error("`{0}` is nothing that a runtime or a user could answer")]
    NotForOthers(&'static str),
    #[error("`{kind}` with {what} can't be carried out: {instead}")]
    Unsupported {
        kind: &'static str,
        what: String,
        instead: &'static str,
    },
}

pub fn core_action(action: &Action) -> Result<Core, NoCoreAction> {
    match action {
        Action::Run(run) => Ok(command(run)),
        Action::RunIPython(cell) => Ok(Core::Cell { code: code(cell) }),
        Action::Read(read) => Ok(Core::Read {
            path: read.path.clone(),
            lines: lines(read),
        }),
        Action::Write(write) => whole_file(write),
        Action::Edit(edit) => edited(edit),
        Action::Browse(browse) => Ok(Core::Browse {
            code: format!("goto({})", Value::from(&*browse.url)),
        }),
        Action::BrowseInteractive(browse) => Ok(Core::Browse {
            code: browse.browser_actions.clone(),
        }),
        Action::Mcp(call) => tool(call),
        Action::Message(message) => Ok(Core::Message {
            text: message.content.clone(),
        }),
        Action::Think(think) => Ok(Core::Think {
            thought: think.thought.clone(),
        }),
        Action::TaskTracking(tasks) => Ok(Core::Think {
            thought: task_list(tasks),
        }),
        Action::Finish(finish) => Ok(Core::Finish {
            result: result(finish),
        }),
        Action::Reject(reject) => Ok(Core::Reject {
            reason: reject
                .outputs
                .get("reason")
                .and_then(Value::as_str)
                .or((!reject.thought.is_empty()).then_some(&*reject.thought))
                .map(str::to_owned),
        }),
        Action::System(_)
        | Action::Delegate(_)
        | Action::Recall(_)
        | Action::Condensation(_)
        | Action::CondensationRequest(_)
        | Action::ChangeAgentState(_)
        | Action::LoopRecovery(_)
        | Action::Null(_) => Err(NoCoreAction::NotForOthers(action.kind())),
    }
}

fn command(run: &CmdRunAction) -> Core {
    let seconds = run.timeout.and_then(Seconds::new);
    let (wait, timeout) = match run.blocking {
        true => (seconds, None),
        false => (None, seconds),
    };
    let command = match &run.cwd {
        // A shell of its own, as far as it matters: it can change neither folder nor variables of ours.
        Some(folder) if run.is_static => format!(
            "(cd '{}' && {{ {}\n}})",
            folder.replace('\'', r"'\''"),
            run.command
        ),
        _ => run.command.clone(),
    };
    Core::Run {
        command,
        input: run.is_input,
        timeout,
        wait,
    }
}

fn code(cell: &IPythonRunCellAction) -> String {
    match &*cell.kernel_init_code {
        "" => cell.code.clone(),
        first => format!("{first}\n{}", cell.code),
    }
}

fn lines(read: &FileReadAction) -> Option<[i64; 2]> {
    match (read.impl_source, read.view_range.as_deref()) {
        (ReadSource::OhAci, Some(&[from, to])) => Some([from, to]),
        (ReadSource::OhAci, Some(&[from])) => Some([from, -1]),
        // Its lines are numbered, whether a range is given or not.
        (ReadSource::OhAci, _) => Some(WHOLE),
        (ReadSource::Default, _) if (read.start, read.end) == (0, -1) => None,
        (ReadSource::Default, _) => Some([read.start.saturating_add(1), read.end]),
    }
}

fn whole_file(write: &FileWriteAction) -> Result<Core, NoCoreAction> {
    if (write.start, write.end) != (0, -1) {
        return Err(only_whole("write", write.start, write.end));
    }
    Ok(Core::Write {
        path: write.path.clone(),
        content: write.content.clone(),
        create: false,
    })
}

fn only_whole(kind: &'static str, start: i64, end: i64) -> NoCoreAction {
    NoCoreAction::Unsupported {
        kind,
        what: format!("the lines {start} to {end}"),
        instead: "write the whole file, or use `str_replace` or `insert`",
    }
}

fn edited(edit: &FileEditAction) -> Result<Core, NoCoreAction> {
    let path = edit.path.clone();
    let command = match (&*edit.command, edit.impl_source) {
        ("", EditSource::LlmBasedEdit) => "write",
        (command, _) => command,
    };
    Ok(match command {
        "view" => Core::Read {
            path,
            lines: Some(WHOLE),
        },
        "create" => Core::Write {
            path,
            content: edit.file_text.clone().unwrap_or_default(),
            create: true,
        },
        "write" if (edit.start, edit.end) != (1, -1) => {
            return Err(only_whole("edit", edit.start, edit.end));
        }
        "write" => Core::Write {
            path,
            content: edit.content.clone(),
            create: false,
        },
        "str_replace" => Core::Edit {
            path,
            old: edit.old_str.clone().unwrap_or_default(),
            new: edit.new_str.clone().unwrap_or_default(),
        },
        "insert" => Core::Insert {
            path,
            line: edit.insert_line.unwrap_or(0).try_into().unwrap_or(0),
            text: edit.new_str.clone().unwrap_or_default(),
        },
        "undo_edit" => Core::Undo { path },
        other => {
            return Err(NoCoreAction::Unsupported {
                kind: "edit",
                what: format!(
                    "the command `{}`",
                    other.chars().take(40).collect::<String>()
                ),
                instead: "use `view`, `create`, `str_replace`, `insert`, `undo_edit` or `write`",
            });
        }
    })
}

/// Actions that OpenHands does not have are written as calls of a tool; others are not ours.
fn tool(call: &MCPAction) -> Result<Core, NoCoreAction> {
    let unsupported = |instead| NoCoreAction::Unsupported {
        kind: "call_tool_mcp",
        what: format!(
            "the tool `{}`",
            call.name.chars().take(40).collect::<String>()
        ),
        instead,
    };
    if call.name.parse::<ActionKind>().is_err() {
        return Err(unsupported("only Agon's own actions are tools here"));
    }
    let mut fields = call.arguments.clone();
    fields.insert("action".to_owned(), Value::from(&*call.name));
    serde_json::from_value(Value::Object(fields))
        .map_err(|_| unsupported("its arguments are not those of the action of that name"))
}

fn task_list(tasks: &TaskTrackingAction) -> String {
    let mut text = format!("task_tracking {}", tasks.command);
    for task in &tasks.task_list {
        let of = |key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n[{}] {}", of("status"), of("title")));
        if !of("notes").is_empty() {
            text.push_str(&format!(" ({})", of("notes")));
        }
    }
    text
}

fn result(finish: &AgentFinishAction) -> Option<String> {
    let content = finish.outputs.get("content").and_then(Value::as_str);
    [
        &*finish.final_thought,
        content.unwrap_or_default(),
        &*finish.thought,
    ]
    .into_iter()
    .find(|text| !text.is_empty())
    .map(str::to_owned)
}
