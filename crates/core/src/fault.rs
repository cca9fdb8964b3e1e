//! Faults: what went wrong on our side. A fault is not a failure; it is decided by evidence that we
//! hold, never by what the agent printed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultClass {
    /// The environment did not start.
    Start,
    /// `setup_cmd` failed or the task's files could not be placed.
    Setup,
    /// The environment died or stopped answering, and not by the agent's doing.
    Environment,
    /// The agent's own service could not be reached (not: answered badly).
    AgentUnreachable,
    /// A model service was down.
    Model,
    /// A model can't be asked as it is set up: its key, its name, its tape.
    ModelSetup,
    /// A check could not be carried out.
    Check,
    /// A check needs a judge and there is none.
    NeedsJudge,
    /// The judge did not answer, or not in a way that decides anything.
    Judge,
    /// Evidence could not be taken or stored.
    Evidence,
    /// Something of ours ran past its deadline.
    Timeout,
    /// A bug of ours.
    Internal,
}

impl FaultClass {
    /// Whether trying again at once, on a fresh environment, can help.
    pub const fn retryable(self) -> bool {
        self.mendable() && !matches!(self, Self::ModelSetup)
    }

    /// Whether the same command can do better later, when somebody has seen to what was missing.
    pub const fn mendable(self) -> bool {
        !self.unjudged()
    }

    /// Nothing is wrong but that no judge has spoken: grading again is enough, nobody has to play again.
    pub const fn unjudged(self) -> bool {
        matches!(self, Self::NeedsJudge | Self::Judge)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Setup => "setup",
            Self::Environment => "environment",
            Self::AgentUnreachable => "agent_unreachable",
            Self::Model => "model",
            Self::ModelSetup => "model_setup",
            Self::Check => "check",
            Self::NeedsJudge => "needs_judge",
            Self::Judge => "judge",
            Self::Evidence => "evidence",
            Self::Timeout => "timeout",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    pub class: FaultClass,
    /// What happened and, where we know, what to do about it.
    pub message: String,
}

impl Fault {
    pub fn new(class: FaultClass, message: impl fmt::Display) -> Self {
        Self {
            class,
            message: message.to_string(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}
