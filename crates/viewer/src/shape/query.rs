//! Which trials are shown, in which order: what stands in the address of a run's page and of the API.
//! Lists are written with commas: `outcome=failed,faulted`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As it counts: a person is believed before the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Passed,
    Failed,
    Faulted,
    /// Is being played, as far as the run folder tells.
    Running,
    /// Planned, without a result.
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    Reviewed,
    Unreviewed,
    /// A person says something else than the checks.
    Disagreed,
    /// Signs of tampering.
    Integrity,
    Tainted,
    Retried,
    Rerun,
    /// Played by a runner in an environment of its own.
    Elsewhere,
    /// Stopped by an operator.
    Operator,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortKey {
    /// As the trials ended; those without a result come last, in the order of the plan.
    #[default]
    Ended,
    Task,
    Level,
    Outcome,
    Score,
    Measured,
    Steps,
    Seconds,
    Tokens,
    Cost,
}

/// Everything is optional; what is given must hold for a trial to be shown. Lists: one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialQuery {
    /// Words that task, name, reason or fault hold, without regard to case.
    pub q: String,
    pub outcome: Vec<State>,
    /// Classes of faults.
    pub fault: Vec<String>,
    /// `none` stands for tasks without a level.
    pub level: Vec<String>,
    pub category: Vec<String>,
    /// Trials in which a check of this name did not pass.
    pub check: Vec<String>,
    pub flag: Vec<Flag>,
    /// Every attempt instead of every trial.
    pub attempts: bool,
    pub sort: SortKey,
    pub desc: bool,
}
