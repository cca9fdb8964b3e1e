//! What an agent can do: one tagged enum for every kind of environment. Other systems' action
//! formats are converted to this one by dialects, elsewhere.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Seconds;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Run a command in the persistent shell. While a command is still running, an empty command
    /// waits for more output, and `input: true` sends `command` to it: a line of text, or a control
    /// key written `C-c`, `C-d`, `C-z`.
    Run {
        command: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        input: bool,
        /// Hard time-out in seconds for this command, at most the task's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Seconds>,
    },
    /// Run code in a persistent Python interpreter.
    Cell {
        code: String,
    },
    Read {
        path: String,
    },
    Write {
        path: String,
        content: String,
    },
    /// Replace the only occurrence of `old` by `new`.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Say something to the (simulated) user.
    Message {
        text: String,
    },
    Think {
        thought: String,
    },
    /// Declare the task done, with the answer if one was asked for.
    Finish {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
    },
    Key {
        keys: String,
    },
    KeyDown {
        key: String,
    },
    KeyUp {
        key: String,
    },
    Type {
        text: String,
    },
    Move {
        x: i32,
        y: i32,
    },
    Click {
        x: i32,
        y: i32,
        #[serde(default)]
        button: Button,
        #[serde(default = "one")]
        count: u8,
    },
    Drag {
        path: Vec<Point>,
    },
    Scroll {
        x: i32,
        y: i32,
        #[serde(default)]
        dx: i32,
        #[serde(default)]
        dy: i32,
    },
    Wait {
        seconds: Seconds,
    },
    Screenshot,
}

fn one() -> u8 {
    1
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// The kind of an action: what tasks allow and agents declare.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    Run,
    Cell,
    Read,
    Write,
    Edit,
    Message,
    Think,
    Finish,
    Key,
    KeyDown,
    KeyUp,
    Type,
    Move,
    Click,
    Drag,
    Scroll,
    Wait,
    Screenshot,
}

impl ActionKind {
    pub const ALL: [Self; 18] = [
        Self::Run,
        Self::Cell,
        Self::Read,
        Self::Write,
        Self::Edit,
        Self::Message,
        Self::Think,
        Self::Finish,
        Self::Key,
        Self::KeyDown,
        Self::KeyUp,
        Self::Type,
        Self::Move,
        Self::Click,
        Self::Drag,
        Self::Scroll,
        Self::Wait,
        Self::Screenshot,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Cell => "cell",
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Message => "message",
            Self::Think => "think",
            Self::Finish => "finish",
            Self::Key => "key",
            Self::KeyDown => "key_down",
            Self::KeyUp => "key_up",
            Self::Type => "type",
            Self::Move => "move",
            Self::Click => "click",
            Self::Drag => "drag",
            Self::Scroll => "scroll",
            Self::Wait => "wait",
            Self::Screenshot => "screenshot",
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ActionKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("`{text}` is no kind of action"))
    }
}

impl Action {
    /// A plain command in the shell.
    pub fn run(command: impl Into<String>) -> Self {
        Self::Run {
            command: command.into(),
            input: false,
            timeout: None,
        }
    }

    pub fn kind(&self) -> ActionKind {
        match self {
            Self::Run { .. } => ActionKind::Run,
            Self::Cell { .. } => ActionKind::Cell,
            Self::Read { .. } => ActionKind::Read,
            Self::Write { .. } => ActionKind::Write,
            Self::Edit { .. } => ActionKind::Edit,
            Self::Message { .. } => ActionKind::Message,
            Self::Think { .. } => ActionKind::Think,
            Self::Finish { .. } => ActionKind::Finish,
            Self::Key { .. } => ActionKind::Key,
            Self::KeyDown { .. } => ActionKind::KeyDown,
            Self::KeyUp { .. } => ActionKind::KeyUp,
            Self::Type { .. } => ActionKind::Type,
            Self::Move { .. } => ActionKind::Move,
            Self::Click { .. } => ActionKind::Click,
            Self::Drag { .. } => ActionKind::Drag,
            Self::Scroll { .. } => ActionKind::Scroll,
            Self::Wait { .. } => ActionKind::Wait,
            Self::Screenshot => ActionKind::Screenshot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_tagged_objects() {
        let click: Action = serde_json::from_str(r#"{"action":"click","x":10,"y":20}"#).unwrap();
        assert_eq!(
            click,
            Action::Click {
                x: 10,
                y: 20,
                button: Button::Left,
                count: 1
            }
        );
        let run = serde_json::to_string(&Action::run("ls")).unwrap();
        assert_eq!(run, r#"{"action":"run","command":"ls"}"#);
    }

    #[test]
    fn unknown_keys_and_kinds_are_refused() {
        for bad in [
            r#"{"action":"run","command":"ls","cwd":"/"}"#,
            r#"{"action":"fly"}"#,
            "{}",
        ] {
            assert!(serde_json::from_str::<Action>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn kinds_have_the_names_of_the_tags() {
        for kind in ActionKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.name().parse(), Ok(kind));
        }
    }
}
