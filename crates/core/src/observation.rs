//! What the agent gets to see after each action. The text is already cut to the agent's view; what
//! was cut stays whole in the run folder, and so do the pictures of screens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::screen::{Picture, ScreenView};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// The first one: the environment is ready.
    Ready,
    /// Output of a command.
    Output,
    /// Content of a file.
    Content,
    /// Done, nothing to show.
    Done,
    /// The user's answer to a message.
    Reply,
    /// The action could not be carried out; `text` says why.
    Error,
    /// The action is not allowed in this task, or could not be understood.
    Refused,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    pub kind: ObservationKind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// The command is still running: wait, send input or a control key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// The shell's working folder after the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How many bytes were left out of `text`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
    /// The file that the action changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Box<FileChange>>,
    /// What a cell or a page drew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// Desktop only: the screen once the action had taken effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenView>,
}

/// A change of one file, as a unified difference that is already cut to the agent's view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: String,
    /// It was there before.
    pub existed: bool,
    pub diff: String,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Observation {
    pub fn new(kind: ObservationKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            exit_status: None,
            running: false,
            cwd: None,
            omitted: 0,
            changed: None,
            pictures: Vec::new(),
            screen: None,
        }
    }
    pub fn ready(text: impl Into<String>) -> Self {
        Self::new(ObservationKind::Ready, text)
    }
    pub fn done() -> Self {
        Self::new(ObservationKind::Done, "")
    }
    pub fn error(text: impl Into<String>) -> Self {
        Self::new(ObservationKind::Error, text)
    }
    pub fn refused(text: impl Into<String>) -> Self {
        Self::new(ObservationKind::Refused, text)
    }
}
