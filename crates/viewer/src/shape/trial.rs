//! A trial: as a row of a table, and as the head of its own page.

use agon_core::verdict::{CheckResult, Outcome, TurnEnd};
use agon_core::{Fault, TimeSplit, Usage};
use agon_store::{Review, TaskStamp};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::{Flag, State};

/// Names an attempt within a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TrialKey {
    /// `category/id`.
    pub task: String,
    pub epoch: u32,
    /// Of a trial without an attempt: 0.
    pub attempt: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialRow {
    #[serde(flatten)]
    pub key: TrialKey,
    pub name: String,
    pub level: Option<String>,
    pub state: State,
    /// What the checks say, where a person says something else.
    pub checks: Option<Outcome>,
    pub score: Option<f64>,
    pub measured: Option<f64>,
    pub end: Option<TurnEnd>,
    /// Nothing before it has ended.
    pub steps: Option<u32>,
    pub seconds: TimeSplit,
    pub tokens: u64,
    /// Dollars.
    pub money: Option<f64>,
    /// Something was used that has no known price: `money` is a lower bound.
    pub unpriced: bool,
    pub flags: Vec<Flag>,
    /// Why it did not pass, in a few words.
    pub why: String,
    pub at: Option<Timestamp>,
}

/// A part of a list of trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialPage {
    /// How many there are in all.
    pub total: u64,
    pub offset: u64,
    pub rows: Vec<TrialRow>,
    /// Rises whenever something in the run changes that the list shows.
    pub revision: u64,
}

/// Everything about an attempt but its steps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialHead {
    pub run: String,
    pub key: TrialKey,
    pub task: TaskStamp,
    pub state: State,
    /// What the checks say.
    pub checks_say: Option<Outcome>,
    /// The score that the checks give, whatever a person says; none where they came to no verdict.
    pub checks_score: Option<f64>,
    /// As it counts.
    pub score: Option<f64>,
    pub measured: Option<f64>,
    pub fault: Option<Fault>,
    pub end: Option<TurnEnd>,
    pub seconds: TimeSplit,
    pub usage: Usage,
    /// What judges used of that.
    pub judge_usage: Usage,
    pub flags: Vec<Flag>,
    pub integrity: Option<String>,
    pub why: String,
    /// What the agent was asked to do.
    pub instruction: Option<String>,
    /// What it answered (`finish`).
    pub answer: Option<String>,
    pub checks: Vec<CheckResult>,
    /// Steps of the agent, so far where it still plays.
    pub steps: u32,
    /// Actions that are on record one by one: none of a player that plays in real time by itself. There are
    /// `acted + 2` steps to show: 0 is what came before the first action, the last one is what came after
    /// its turn.
    pub acted: u32,
    /// Seconds from the first event to the last.
    pub duration: f64,
    /// Size of the screen, where there is one.
    pub screen: Option<(u32, u32)>,
    /// Frames were streamed: there is a track.
    pub realtime: bool,
    /// It is still being written.
    pub live: bool,
    pub began: Option<Timestamp>,
    /// Other attempts at the same trial, this one included.
    pub attempts: Vec<AttemptCard>,
    pub review: ReviewCard,
    /// What is missing or can't be read.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AttemptCard {
    pub attempt: u32,
    pub outcome: Option<Outcome>,
    pub is_final: bool,
    pub regraded: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReviewCard {
    /// What holds.
    pub standing: Option<Review>,
    /// All that was said, in order.
    pub history: Vec<Review>,
    /// Only an attempt that counts can be reviewed.
    pub possible: bool,
}

/// None where a trial is at an end of a list, or not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neighbours {
    pub previous: Option<TrialKey>,
    pub next: Option<TrialKey>,
}
