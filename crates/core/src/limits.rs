//! Deadlines and budgets of one trial. Every phase has one; the defaults fit small tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::Money;
use crate::quantity::{ByteSize, Seconds};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Actions the agent may take.
    pub steps: u32,
    /// Wall-clock seconds of the agent's turn, all steps together.
    pub seconds: Seconds,
    /// Starting the environment.
    pub start: Seconds,
    /// `setup_cmd`.
    pub setup: Seconds,
    /// The agent's thinking time for one step.
    pub step: Seconds,
    /// Hard time-out of one command: its whole process tree is killed.
    pub command: Seconds,
    /// A command silent for this long is left running and the agent gets its turn.
    pub quiet: Seconds,
    /// A command that still runs after this long is left running and the agent gets its turn, with output
    /// or without. Without it: only silence does that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<Seconds>,
    /// One check.
    pub check: Seconds,
    /// Tokens of the agent's model, when it reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money spent on the agent's model, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// How much of one output the agent sees.
    pub view: ByteSize,
    /// How much output of one trial is kept.
    pub output: ByteSize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 30,
            seconds: Seconds::whole(600),
            start: Seconds::whole(60),
            setup: Seconds::whole(120),
            step: Seconds::whole(120),
            command: Seconds::whole(120),
            quiet: Seconds::whole(30),
            patience: None,
            check: Seconds::whole(60),
            tokens: None,
            money: None,
            view: ByteSize::kib(16),
            output: ByteSize::mib(64),
        }
    }
}
