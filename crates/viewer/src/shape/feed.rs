//! What is sent while a run goes on, as server-sent events. The name of an event is the tag.

use schemars::JsonSchema;
use serde::Serialize;

use super::trial::{TrialKey, TrialRow};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum Feed {
    /// The first one, and whenever a count changes.
    Progress(Progress),
    /// An attempt ended.
    Trial(Box<TrialRow>),
    /// Something happened in a trial that is being played: its latest state.
    Moment(Moment),
    /// A running trial was asked to stop.
    Stopping(TrialKey),
    /// Somebody reviewed a trial.
    Review(TrialKey),
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Progress {
    pub live: bool,
    pub planned: u64,
    pub passed: u64,
    pub failed: u64,
    pub faulted: u64,
    pub missing: u64,
    /// The trials that are being played now.
    pub running: Vec<Moment>,
    pub revision: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Moment {
    #[serde(flatten)]
    pub key: TrialKey,
    pub name: String,
    /// The agent's step, and the limit.
    pub step: u32,
    pub steps: u32,
    /// When the attempt began; elapsed time is counted by the page.
    pub began: jiff::Timestamp,
    /// Its limit in seconds.
    pub seconds: f64,
    /// `setup`, `running`, `frozen`, `graded`.
    pub phase: String,
    /// The last action in a few words; of a player that plays by itself, the last key or button.
    pub brief: String,
    /// The end of what came of it, where that is text: at most three lines and 400 bytes, as they were printed.
    pub output: String,
    /// Blob of the last screen.
    pub shot: Option<String>,
    /// Bytes of its record that were read: two moments with the same are the same.
    pub read: u64,
    /// An operator has asked for its end.
    pub stopping: bool,
}
