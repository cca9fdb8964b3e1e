//! What an evaluation came to: the three keys of the original, and why it ended.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Exactly what the original sends and writes into its report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationResult {
    pub task_id: String,
    pub metrics: Map<String, Value>,
    #[serde(default)]
    pub notes: Option<String>,
}

/// Why an evaluation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The agent said so.
    Finished,
    /// The evaluator saw that the environment has ended.
    EnvEnded,
    Timeout,
    /// Somebody stopped it: the panic key, `abort` or `kill`.
    Operator,
    /// The agent's code failed or panicked.
    AgentError,
    /// The evaluator's code failed or panicked.
    EvaluatorError,
    /// The agent can't be reached or its process is gone.
    AgentLost,
}

impl StopReason {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::EnvEnded => "env_ended",
            Self::Timeout => "timeout",
            Self::Operator => "operator",
            Self::AgentError => "agent_error",
            Self::EvaluatorError => "evaluator_error",
            Self::AgentLost => "agent_lost",
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
