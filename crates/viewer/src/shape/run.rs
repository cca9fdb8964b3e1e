//! A run in a list of runs.

use agon_report::Interval;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process is writing to it.
    Live,
    /// Every planned trial has a result.
    Complete,
    /// Nobody writes to it, and trials are missing.
    Stopped,
    /// It can't be read; `problems` says why.
    Broken,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunCard {
    /// Names it in addresses.
    pub id: String,
    /// Where it is, as the viewer was told; empty in an export.
    pub path: String,
    pub state: RunState,
    pub suites: Vec<String>,
    pub agent: String,
    pub models: Vec<String>,
    pub judge: Option<String>,
    pub created: Option<Timestamp>,
    /// When the last attempt ended.
    pub last: Option<Timestamp>,
    /// Tasks times epochs.
    pub planned: u64,
    pub passed: u64,
    pub failed: u64,
    pub faulted: u64,
    /// Without a result.
    pub missing: u64,
    /// Mean score of graded trials.
    pub score: Option<f64>,
    pub score_ci: Option<Interval>,
    pub score_floor: f64,
    pub coverage: f64,
    /// Dollars; a lower bound where calls had no price.
    pub money: Option<f64>,
    /// Something was used that has no known price.
    pub unpriced: bool,
    /// Seconds of all attempts together.
    pub seconds: f64,
    /// Graded trials that a person has looked at.
    pub reviewed: u64,
    /// What is missing or can't be read.
    pub problems: Vec<String>,
}

/// How results came in over time: one point per ended trial, thinned out to what can be drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// Seconds since the run began.
    pub t: Vec<f64>,
    pub passed: Vec<u64>,
    pub failed: Vec<u64>,
    pub faulted: Vec<u64>,
}
