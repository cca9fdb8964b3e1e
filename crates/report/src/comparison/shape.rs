//! What is said about runs that are compared. Runs are called A, B, C there, in the order given.

use schemars::JsonSchema;
use serde::Serialize;

use crate::confidence::Interval;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The first one is what the others are compared with.
    pub runs: Vec<ComparedRun>,
    /// Tasks that every run has a graded trial of.
    pub common: u64,
    /// One for each run but the first.
    pub pairs: Vec<PairedRun>,
    /// Tasks of any of the runs: those that differ most first.
    pub tasks: Vec<ComparedTask>,
    /// What a reader must know before believing it, such as other limits.
    pub caveats: Vec<String>,
}

/// The means are over the common tasks. Each task counts once, by the mean of its graded trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedRun {
    pub id: String,
    /// What it is called in words: `A`.
    pub sign: String,
    pub suites: Vec<String>,
    pub agent: String,
    pub models: Vec<String>,
    pub judge: Option<String>,
    pub epochs: u32,
    /// Planned tasks, those of them with a graded trial, and trials that ended in a fault.
    pub tasks: u64,
    pub graded: u64,
    pub faulted: u64,
    pub score: Option<f64>,
    /// Dollars per trial, where anything is known.
    pub money: Option<f64>,
    /// Some trials have no known price: `money` is a lower bound.
    pub unpriced: bool,
    /// Seconds and steps per trial.
    pub seconds: Option<f64>,
    pub steps: Option<f64>,
}

/// A run against the first one, over the tasks that both have graded trials of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairedRun {
    pub run: String,
    pub tasks: u64,
    /// Tasks that this run solves and the first does not, and the other way round. With several
    /// graded trials a task is solved if more than half of them passed.
    pub gained: u64,
    pub lost: u64,
    pub both: u64,
    pub neither: u64,
    /// McNemar's exact test of `gained` against `lost`; null where there is nothing to tell apart.
    pub p_value: Option<f64>,
    /// Difference of the mean scores, this one minus the first; each task counts once.
    pub difference: Option<f64>,
    /// Null with a single task.
    pub difference_ci: Option<Interval>,
    /// The same in a sentence.
    pub words: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedTask {
    pub task: String,
    pub name: String,
    pub level: Option<String>,
    /// By run; null where the task is not in its plan.
    pub cells: Vec<Option<ComparedCell>>,
}

/// What a run made of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ComparedCell {
    /// Mean of the graded trials, as the next three; seconds and steps are of graded trials too.
    pub score: Option<f64>,
    pub seconds: Option<f64>,
    pub steps: Option<f64>,
    /// Dollars.
    pub money: Option<f64>,
    pub unpriced: bool,
    pub passed: u32,
    pub graded: u32,
    pub faulted: u32,
    /// Without a result.
    pub missing: u32,
    /// Epoch and attempt to look at: the first that counts.
    pub attempt: Option<(u32, u32)>,
}

impl ComparedCell {
    /// More often than not; `None` where nothing was graded.
    pub fn solved(&self) -> Option<bool> {
        (self.graded > 0).then(|| u64::from(self.passed) * 2 > u64::from(self.graded))
    }
}
