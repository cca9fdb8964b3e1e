//! What an agent can do: one tagged enum for every kind of environment. Other systems' action
//! formats are converted to this one by dialects, elsewhere.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

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
        /// Hard time-out in seconds for this command, at most the task's: then it is killed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Seconds>,
        /// How long to wait for the command, silent or not, before it is left running.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<Seconds>,
    },
    /// Run code in a persistent Python interpreter.
    Cell {
        code: String,
    },
    /// One line of the browser's own actions, such as `goto("http://...")`.
    Browse {
        code: String,
    },
    /// Show a file, or list a folder.
    Read {
        path: String,
        /// First and last line, from 1; -1 is the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<[i64; 2]>,
    },
    Write {
        path: String,
        content: String,
        /// Refuse to replace a file that is there.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        create: bool,
    },
    /// Replace the only occurrence of `old` by `new`.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Put text after a line; 0 is the beginning of the file.
    Insert {
        path: String,
        line: u64,
        text: String,
    },
    /// Take back the last change that an action made to a file.
    Undo {
        path: String,
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
    /// Refuse the task, which ends the turn.
    Reject {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Key {
        keys: String,
        /// How long each combination is held; 0.05 seconds unless it is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<Seconds>,
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
        /// From 1 to 3.
        #[serde(default = "one", deserialize_with = "few")]
        #[schemars(range(min = 1, max = 3))]
        count: u8,
        /// How long each press is held; 0.05 seconds unless it is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<Seconds>,
    },
    /// Press at the first point of the path, release at the last.
    Drag {
        /// From 2 to 1000 points.
        #[serde(deserialize_with = "points")]
        #[schemars(length(min = 2, max = 1000))]
        path: Vec<Point>,
        #[serde(default, skip_serializing_if = "Button::is_left")]
        button: Button,
        /// How long it takes from the first point to the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<Seconds>,
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

fn few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        count @ 1..=3 => Ok(count),
        count => Err(D::Error::custom(format!(
            "`count` is {count}: click from 1 to 3 times"
        ))),
    }
}

fn points<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Point>, D::Error> {
    let path = Vec::<Point>::deserialize(deserializer)?;
    match path.len() {
        2..=1000 => Ok(path),
        count => Err(D::Error::custom(format!(
            "`path` needs from 2 to 1000 points, not {count}"
        ))),
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

impl Button {
    fn is_left(&self) -> bool {
        *self == Self::Left
    }
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
    Browse,
    Read,
    Write,
    Edit,
    Insert,
    Undo,
    Message,
    Think,
    Finish,
    Reject,
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
    pub const ALL: [Self; 22] = [
        Self::Run,
        Self::Cell,
        Self::Browse,
        Self::Read,
        Self::Write,
        Self::Edit,
        Self::Insert,
        Self::Undo,
        Self::Message,
        Self::Think,
        Self::Finish,
        Self::Reject,
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
            Self::Browse => "browse",
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Insert => "insert",
            Self::Undo => "undo",
            Self::Message => "message",
            Self::Think => "think",
            Self::Finish => "finish",
            Self::Reject => "reject",
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
            wait: None,
        }
    }

    pub fn kind(&self) -> ActionKind {
        match self {
            Self::Run { .. } => ActionKind::Run,
            Self::Cell { .. } => ActionKind::Cell,
            Self::Browse { .. } => ActionKind::Browse,
            Self::Read { .. } => ActionKind::Read,
            Self::Write { .. } => ActionKind::Write,
            Self::Edit { .. } => ActionKind::Edit,
            Self::Insert { .. } => ActionKind::Insert,
            Self::Undo { .. } => ActionKind::Undo,
            Self::Message { .. } => ActionKind::Message,
            Self::Think { .. } => ActionKind::Think,
            Self::Finish { .. } => ActionKind::Finish,
            Self::Reject { .. } => ActionKind::Reject,
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
                count: 1,
                hold: None
            }
        );
        let run = serde_json::to_string(&Action::run("ls")).unwrap();
        assert_eq!(run, r#"{"action":"run","command":"ls"}"#);
    }

    #[test]
    fn a_drag_says_no_more_than_it_must() {
        let plain = r#"{"action":"drag","path":[{"x":0,"y":0},{"x":9,"y":9}]}"#;
        let drag: Action = serde_json::from_str(plain).unwrap();
        let path = vec![Point { x: 0, y: 0 }, Point { x: 9, y: 9 }];
        assert_eq!(
            drag,
            Action::Drag {
                path: path.clone(),
                button: Button::Left,
                seconds: None
            }
        );
        assert_eq!(serde_json::to_string(&drag).unwrap(), plain);
        let slow = r#"{"action":"drag","path":[{"x":0,"y":0},{"x":9,"y":9}],"button":"right","seconds":0.5}"#;
        let drag: Action = serde_json::from_str(slow).unwrap();
        assert_eq!(
            drag,
            Action::Drag {
                path,
                button: Button::Right,
                seconds: Seconds::new(0.5)
            }
        );
        assert_eq!(serde_json::to_string(&drag).unwrap(), slow);
    }

    #[test]
    fn clicks_and_paths_are_bounded() {
        let click = |count: &str| {
            let text = format!(r#"{{"action":"click","x":1,"y":1,"count":{count}}}"#);
            serde_json::from_str::<Action>(&text).map_err(|error| error.to_string())
        };
        assert!(click("1").is_ok() && click("3").is_ok());
        for bad in ["0", "4", "255"] {
            assert!(click(bad).unwrap_err().contains("from 1 to 3"), "{bad}");
        }
        assert!(click("-1").is_err() && click("256").is_err());
        let drag = |points: usize| {
            let path = vec![r#"{"x":1,"y":1}"#; points].join(",");
            let text = format!(r#"{{"action":"drag","path":[{path}]}}"#);
            serde_json::from_str::<Action>(&text).map_err(|error| error.to_string())
        };
        assert!(drag(2).is_ok() && drag(1000).is_ok());
        for bad in [0, 1, 1001] {
            assert!(drag(bad).unwrap_err().contains("from 2 to 1000"), "{bad}");
        }
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
