//! What a run adds up to, as data: the part of the JSON report that every other format draws from.
//! Fields are only ever added.

use agon_core::verdict::TurnEnd;
use agon_core::{FaultClass, TimeSplit};
use agon_store::{Audit, Manifest, Reviews, TrialLine};
use schemars::JsonSchema;
use serde::Serialize;

use crate::caveat::Caveat;
use crate::confidence::Interval;
use crate::measured::Measured;
use crate::people::People;
use crate::plan::as_they_count;
use crate::prediction::Predictions;
use crate::tally::Tally;
use crate::usage::{TaskUsage, UsageTotal};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// What a reader must know before believing the numbers.
    pub caveats: Vec<Caveat>,
    pub overall: Standing,
    /// Passed of graded trials.
    pub pass_rate: Option<f64>,
    pub pass_rate_ci: Option<Interval>,
    pub weighted: Weighted,
    /// pass@k and pass^k; empty with one epoch.
    pub repeats: Vec<Repeat>,
    /// From easy to hard; tasks without a level come last.
    pub levels: Vec<Group>,
    pub categories: Vec<Group>,
    pub matrix: Vec<MatrixRow>,
    /// Of graded trials.
    pub steps: Option<StepCounts>,
    pub seconds: TimeSpent,
    pub usage: UsageTotal,
    /// By task, those that used any; left out where none did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_usage: Vec<TaskUsage>,
    /// What judges used of that; left out where none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<UsageTotal>,
    /// What people say; left out where nobody has said anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
    /// Of trials that ended faulted, most frequent first.
    pub faults: Vec<FaultCount>,
    /// Of graded trials, most frequent first.
    pub turn_ends: Vec<EndCount>,
    pub marks: Marks,
    /// What was played again after its first verdict, which counts; left out where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<Draws>,
    /// Trials with attempts that were begun and never ended; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_ended: Vec<NeverEnded>,
    /// Whether the run folder agrees with itself; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Audit>,
    /// What checks measured in units of their own; left out where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Only of runs of predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Predictions>,
}

impl Summary {
    /// Of a run's lines in the order in which they were written. The last final line of a trial is its result.
    pub fn collect(manifest: &Manifest, lines: impl IntoIterator<Item = TrialLine>) -> Self {
        let mut tally = Tally::new(manifest, Reviews::default(), None);
        let lines: Vec<TrialLine> = lines.into_iter().collect();
        for line in as_they_count(&lines) {
            tally.add(&line);
        }
        tally.summary()
    }
}

/// Draws after the first verdict. They count nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Draws {
    /// Trials that were played again.
    pub trials: u64,
    /// Attempts that this took.
    pub attempts: u64,
    /// Trials that passed in a later draw.
    pub passed: u64,
}

/// A trial with attempts that were begun and have no end: their process was killed or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NeverEnded {
    pub task: String,
    pub epoch: u32,
    pub attempts: Vec<u32>,
}

/// How a set of tasks stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    pub tasks: u64,
    /// Tasks times epochs.
    pub trials: u64,
    pub passed: u64,
    pub failed: u64,
    pub faulted: u64,
    /// Planned, but without a result.
    pub missing: u64,
    /// Graded of planned trials, from 0 to 1.
    pub coverage: f64,
    /// Mean score of graded trials, from 0 to 1; null if none is graded.
    pub score: Option<f64>,
    pub score_ci: Option<Interval>,
    /// Mean score of planned trials with faulted and missing ones as 0.
    pub score_floor: f64,
    /// Of every attempt, retried ones included.
    pub seconds: TimeSplit,
}

impl Standing {
    pub fn graded(&self) -> u64 {
        self.passed + self.failed
    }
}

/// Scores with every task's weight.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Weighted {
    pub score: Option<f64>,
    pub score_ci: Option<Interval>,
    pub score_floor: f64,
}

/// What `k` attempts at a task achieve, averaged over the tasks that have at least `k` graded ones.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Repeat {
    pub k: u32,
    pub tasks: u64,
    /// At least one of `k` passes (pass@k).
    pub pass_at: f64,
    pub pass_at_ci: Option<Interval>,
    /// All of `k` pass (pass^k).
    pub pass_all: f64,
    pub pass_all_ci: Option<Interval>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    pub name: String,
    pub standing: Standing,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatrixRow {
    pub category: String,
    pub cells: Vec<MatrixCell>,
}

impl MatrixRow {
    pub fn at(&self, level: &str) -> Option<&Standing> {
        let cell = self.cells.iter().find(|cell| cell.level == level)?;
        Some(&cell.standing)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatrixCell {
    pub level: String,
    /// Without an interval.
    pub standing: Standing,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepCounts {
    pub mean: f64,
    pub median: f64,
    pub max: u32,
    pub histogram: Vec<Bin>,
}

/// How many trials took `from` to `to` steps, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bin {
    pub from: u32,
    pub to: u32,
    pub trials: u64,
}

/// Seconds. The split is of every attempt; mean, median and maximum are of graded trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeSpent {
    pub split: TimeSplit,
    pub mean: Option<f64>,
    pub median: Option<f64>,
    pub max: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultCount {
    pub class: FaultClass,
    pub trials: u64,
    /// The message of the first one.
    pub example: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EndCount {
    pub end: TurnEnd,
    pub trials: u64,
}

/// Trials that are not quite like the others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Marks {
    /// Recorded attempts, final or not.
    pub attempts: u64,
    /// Trials whose result came after a fault of an earlier attempt.
    pub retried: u64,
    /// Trials that were run or graded again on demand.
    pub rerun: u64,
    /// Attempts that were begun and never ended.
    pub never_ended: u64,
    /// Results with a score outside of 0 to 1, which counts as the nearest of both.
    #[serde(skip_serializing_if = "is_zero")]
    pub odd_scores: u64,
    /// Trials with a check that ran where the agent had been.
    pub tainted: u64,
    /// Trials with signs of tampering.
    pub integrity: u64,
    /// Trials whose turn an operator ended; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub stopped: u64,
    /// Lines that are no part of the plan, left out.
    pub stray_lines: u64,
    /// Final lines graded by other checks than the manifest names.
    pub other_checks: u64,
    /// Lines of `reviews.jsonl` that can't be read; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub unread_reviews: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
