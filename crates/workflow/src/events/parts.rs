//! What several events have in common: risks, sources, the state of a shell.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Written as a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecurityRisk {
    #[default]
    Unknown,
    Low,
    Medium,
    High,
}

impl SecurityRisk {
    const fn number(self) -> i64 {
        match self {
            Self::Unknown => -1,
            Self::Low => 0,
            Self::Medium => 1,
            Self::High => 2,
        }
    }
}

impl Serialize for SecurityRisk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.number())
    }
}

impl<'de> Deserialize<'de> for SecurityRisk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        [Self::Unknown, Self::Low, Self::Medium, Self::High]
            .into_iter()
            .find(|risk| risk.number() == number)
            .ok_or_else(|| D::Error::custom(format!("{number} is no risk: it is from -1 to 2")))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationState {
    #[default]
    Confirmed,
    Rejected,
    AwaitingConfirmation,
}

/// Who reads a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadSource {
    #[default]
    Default,
    OhAci,
}

/// Who edits a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditSource {
    #[default]
    OhAci,
    LlmBasedEdit,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallType {
    #[default]
    WorkspaceContext,
    Knowledge,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MicroagentKnowledge {
    pub name: String,
    pub trigger: String,
    pub content: String,
}

/// How the shell stood after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CmdOutputMetadata {
    /// -1: the command has not ended.
    pub exit_code: i64,
    pub pid: i64,
    pub username: Option<String>,
    pub hostname: Option<String>,
    pub working_dir: Option<String>,
    pub py_interpreter_path: Option<String>,
    /// Put before the output for the agent.
    pub prefix: String,
    /// Put behind it.
    pub suffix: String,
}

impl Default for CmdOutputMetadata {
    fn default() -> Self {
        Self {
            exit_code: -1,
            pid: -1,
            username: None,
            hostname: None,
            working_dir: None,
            py_interpreter_path: None,
            prefix: String::new(),
            suffix: String::new(),
        }
    }
}
