//! Two or more runs, paired by task: as reports have it. Runs are named by their ids here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agon_report::{ComparedCell, ComparedRun, ComparedTask, Comparison, PairedRun as Paired};

/// Tasks by what the first run and another one made of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    #[default]
    All,
    /// Solved by the other one alone.
    Gained,
    /// Solved by the first one alone.
    Lost,
    Both,
    Neither,
    /// Faulted, missing or not planned in one of both.
    Open,
}

/// What a list of tasks is sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskSort {
    /// How far both are apart: the farthest come first, unless the list is turned round.
    #[default]
    Difference,
    Task,
    Level,
    /// The score of a run, by its place.
    Run(usize),
}

/// Which tasks of a comparison are shown, in which order: what stands in the address of its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskQuery {
    /// Words that task, name or level hold, without regard to case.
    pub q: String,
    pub show: Shown,
    /// The place of the run that is held against the first.
    pub against: usize,
    pub sort: TaskSort,
    pub desc: bool,
}

impl Default for TaskQuery {
    fn default() -> Self {
        Self {
            q: String::new(),
            show: Shown::All,
            against: 1,
            sort: TaskSort::Difference,
            desc: false,
        }
    }
}

/// A part of the tasks of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskPage {
    /// How many there are in all.
    pub total: u64,
    pub offset: u64,
    pub rows: Vec<ComparedTask>,
    /// Of the tasks that hold the words, however few of them are shown.
    pub kinds: Kinds,
}

/// How many tasks there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kinds {
    pub all: u64,
    pub gained: u64,
    pub lost: u64,
    pub both: u64,
    pub neither: u64,
    pub open: u64,
}
