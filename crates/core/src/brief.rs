//! What an agent is told about its task: never the task's name, id or checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::ActionKind;
use crate::quantity::Seconds;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    /// An opaque name of the trial: stable for one trial, telling nothing about the task.
    pub trial: String,
    pub instruction: String,
    /// The kinds of action that the task allows.
    pub actions: Vec<ActionKind>,
    pub environment: String,
    pub max_steps: u32,
    pub max_seconds: Seconds,
    /// For agents that draw random numbers: the same trial gets the same seed in every run with the
    /// same `--seed`.
    pub seed: u64,
}
