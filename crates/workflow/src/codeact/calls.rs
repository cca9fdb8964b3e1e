//! What a model's call of a tool means. The call is hostile text: what makes no sense is told to the model
//! and never guessed at.

use agon_core::{Action, ActionKind, Seconds};
use agon_llm::ToolCall;

use super::arguments::Arguments;
use super::tools::{EDITOR_COMMANDS, ToolKind};
use super::tracker::TaskList;

/// Longest name of a tool that is repeated to the model.
const LONGEST_NAME: usize = 60;

/// What is to be done for a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// In the environment.
    Act(Action),
    /// In the agent's own list; `None`: only look.
    Track(Option<TaskList>),
    /// With the agent's own history.
    Condense,
}

/// The error is for the model.
pub(super) fn read(
    call: &ToolCall,
    offered: &[ToolKind],
    allowed: &[ActionKind],
) -> Result<Wanted, String> {
    let Some(tool) = offered.iter().find(|tool| tool.name() == call.name) else {
        let names: Vec<_> = offered.iter().map(|tool| tool.name()).collect();
        let name: String = call.name.chars().take(LONGEST_NAME).collect();
        return Err(format!(
            "there is no tool `{name}`; there are: {}",
            names.join(", ")
        ));
    };
    let given = Arguments::of(tool.name(), &call.input)?;
    let action = match tool {
        ToolKind::Bash => bash(&given)?,
        ToolKind::Think => Action::Think {
            thought: given.text("thought")?,
        },
        ToolKind::Finish => Action::Finish {
            result: given.text_if_any("message")?,
        },
        ToolKind::Condensation => return Ok(Wanted::Condense),
        ToolKind::Browser => Action::Browse {
            code: given.text("code")?,
        },
        ToolKind::Ipython => Action::Cell {
            code: given.text("code")?,
        },
        ToolKind::Tracker => return tracker(&given).map(Wanted::Track),
        ToolKind::Editor => editor(&given, allowed)?,
    };
    Ok(Wanted::Act(action))
}

fn bash(given: &Arguments<'_>) -> Result<Action, String> {
    let wait = given
        .number("timeout")?
        .map(|seconds| {
            Seconds::new(seconds)
                .filter(|_| seconds > 0.0)
                .ok_or("the argument `timeout` of `execute_bash` must be seconds, more than 0")
        })
        .transpose()?;
    Ok(Action::Run {
        command: given.text("command")?,
        input: given.switch("is_input")?,
        timeout: None,
        wait,
    })
}

fn tracker(given: &Arguments<'_>) -> Result<Option<TaskList>, String> {
    match given.text("command")?.as_str() {
        "view" => Ok(None),
        "plan" => match given.list("task_list")? {
            Some(items) => TaskList::read(&items).map(Some),
            None => Err("`plan` of `task_tracker` needs the argument `task_list`".to_owned()),
        },
        _ => Err("`command` of `task_tracker` must be view or plan".to_owned()),
    }
}

fn editor(given: &Arguments<'_>, allowed: &[ActionKind]) -> Result<Action, String> {
    given.only(&[
        "command",
        "path",
        "file_text",
        "old_str",
        "new_str",
        "insert_line",
        "view_range",
        "security_risk",
    ])?;
    let command = given.text("command")?;
    let path = given.text("path")?;
    if path.trim().is_empty() {
        return Err("`path` of `str_replace_editor` is empty".to_owned());
    }
    let known = EDITOR_COMMANDS
        .iter()
        .filter(|(_, kind)| allowed.contains(kind));
    if !known.clone().any(|(name, _)| *name == command) {
        let names: Vec<_> = known.map(|(name, _)| *name).collect();
        return Err(format!(
            "`command` of `str_replace_editor` must be one of: {}",
            names.join(", ")
        ));
    }
    let needs = |name: &str| {
        let missing = || format!("`{command}` of `str_replace_editor` needs the argument `{name}`");
        given.text_if_any(name)?.ok_or_else(missing)
    };
    Ok(match command.as_str() {
        // Numbered lines are what `insert` needs, so the whole file is a range too.
        "view" => Action::Read {
            path,
            lines: Some(given.pair("view_range")?.unwrap_or([1, -1])),
        },
        "create" => Action::Write {
            path,
            content: needs("file_text")?,
            create: true,
        },
        "str_replace" => Action::Edit {
            path,
            old: needs("old_str")?,
            new: given.text_if_any("new_str")?.unwrap_or_default(),
        },
        "insert" => {
            let line = given
                .whole("insert_line")?
                .and_then(|line| u64::try_from(line).ok())
                .ok_or("`insert` of `str_replace_editor` needs `insert_line`, 0 or more")?;
            Action::Insert {
                path,
                line,
                text: needs("new_str")?,
            }
        }
        _ => Action::Undo { path },
    })
}

#[cfg(test)]
mod tests {
    use agon_core::EnvironmentKind;
    use serde_json::{Value, json};

    use super::*;

    fn wanted(name: &str, input: Value) -> Result<Wanted, String> {
        let call = ToolCall {
            id: "call_0".to_owned(),
            name: name.to_owned(),
            input,
            raw: None,
        };
        let allowed = EnvironmentKind::Local.able_actions();
        read(&call, &ToolKind::ALL, allowed)
    }

    fn action(name: &str, input: Value) -> Value {
        match wanted(name, input).unwrap() {
            Wanted::Act(action) => serde_json::to_value(action).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_tool_becomes_its_action() {
        assert_eq!(
            action(
                "execute_bash",
                json!({"command": "ls", "security_risk": "LOW"})
            ),
            json!({"action": "run", "command": "ls"})
        );
        assert_eq!(
            action(
                "execute_bash",
                json!({"command": "C-c", "is_input": "true", "timeout": 5})
            ),
            json!({"action": "run", "command": "C-c", "input": true, "wait": 5.0})
        );
        assert_eq!(
            action("execute_bash", json!({"command": ""})),
            json!({"action": "run", "command": ""})
        );
        assert_eq!(
            action("think", json!({"thought": "hm"})),
            json!({"action": "think", "thought": "hm"})
        );
        assert_eq!(
            action("finish", json!({"message": "42"})),
            json!({"action": "finish", "result": "42"})
        );
        assert_eq!(action("finish", json!({})), json!({"action": "finish"}));
        assert_eq!(
            action("browser", json!({"code": "noop()"})),
            json!({"action": "browse", "code": "noop()"})
        );
        assert_eq!(
            action("execute_ipython_cell", json!({"code": "1"})),
            json!({"action": "cell", "code": "1"})
        );
        assert_eq!(
            wanted("request_condensation", json!({})),
            Ok(Wanted::Condense)
        );
        assert_eq!(
            wanted("task_tracker", json!({"command": "view"})),
            Ok(Wanted::Track(None))
        );
    }

    #[test]
    fn the_editor_has_five_commands() {
        let edit = |input: Value| action("str_replace_editor", input);
        assert_eq!(
            edit(json!({"command": "view", "path": "/a"})),
            json!({"action": "read", "path": "/a", "lines": [1, -1]})
        );
        assert_eq!(
            edit(json!({"command": "view", "path": "/a", "view_range": [3, 9]})),
            json!({"action": "read", "path": "/a", "lines": [3, 9]})
        );
        assert_eq!(
            edit(json!({"command": "create", "path": "/a", "file_text": "x"})),
            json!({"action": "write", "path": "/a", "content": "x", "create": true})
        );
        assert_eq!(
            edit(json!({"command": "str_replace", "path": "/a", "old_str": "x"})),
            json!({"action": "edit", "path": "/a", "old": "x", "new": ""})
        );
        assert_eq!(
            edit(json!({"command": "insert", "path": "/a", "insert_line": "0", "new_str": "x"})),
            json!({"action": "insert", "path": "/a", "line": 0, "text": "x"})
        );
        assert_eq!(
            edit(json!({"command": "undo_edit", "path": "/a"})),
            json!({"action": "undo", "path": "/a"})
        );
    }

    #[test]
    fn what_makes_no_sense_is_said_to_the_model() {
        let why = |name: &str, input: Value| wanted(name, input).unwrap_err();
        assert!(why("bash", json!({})).contains("there are: execute_bash"));
        assert!(why("execute_bash", json!({})).contains("needs the argument `command`"));
        assert!(why("execute_bash", json!({"command": "x", "timeout": 0})).contains("timeout"));
        assert!(why("execute_bash", json!({"command": "x", "timeout": 1e300})).contains("timeout"));
        assert!(why("execute_bash", json!("{\"comm")).contains("no JSON object"));
        assert!(why("task_tracker", json!({"command": "plan"})).contains("task_list"));
        let edit = |input: Value| why("str_replace_editor", input);
        assert!(edit(json!({"command": "fly", "path": "/a"})).contains("view, create"));
        assert!(edit(json!({"command": "view", "path": ""})).contains("empty"));
        assert!(edit(json!({"command": "create", "path": "/a"})).contains("file_text"));
        assert!(
            edit(json!({"command": "insert", "path": "/a", "insert_line": -1}))
                .contains("0 or more")
        );
        assert!(
            edit(json!({"command": "view", "path": "/a", "line": 1}))
                .contains("no argument `line`")
        );
    }

    #[test]
    fn only_what_the_task_allows_is_offered() {
        let section = agon_llm::config::AgentSection::default();
        let names = |allowed: &[ActionKind]| -> Vec<&str> {
            let tools = ToolKind::offered(&section, allowed);
            tools.into_iter().map(ToolKind::name).collect()
        };
        assert_eq!(
            names(EnvironmentKind::Local.default_actions()),
            [
                "execute_bash",
                "think",
                "finish",
                "execute_ipython_cell",
                "task_tracker",
                "str_replace_editor"
            ]
        );
        assert_eq!(
            names(&[ActionKind::Finish, ActionKind::Browse]),
            ["finish", "browser"]
        );
        let only_read = [ActionKind::Read];
        let tools = ToolKind::offered(&section, &only_read);
        let call = ToolCall {
            id: String::new(),
            name: "str_replace_editor".to_owned(),
            input: json!({"command": "create", "path": "/a", "file_text": ""}),
            raw: None,
        };
        let why = read(&call, &tools, &only_read).unwrap_err();
        assert!(why.ends_with("must be one of: view"), "{why}");
    }

    proptest::proptest! {
        #[test]
        fn any_call_is_an_action_or_refused(name in 0_usize..9, key in "[a-z_]{0,12}", value in "\\PC{0,30}") {
            let names = ["execute_bash", "think", "finish", "request_condensation", "browser",
                "execute_ipython_cell", "task_tracker", "str_replace_editor", "other"];
            let name = names.get(name).copied().unwrap_or_default();
            let _ = wanted(name, json!({key: value, "command": value, "path": "/a"}));
        }
    }
}
