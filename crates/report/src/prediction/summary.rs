//! The part of the JSON report about predictions. Fields are only ever added.

use schemars::JsonSchema;
use serde::Serialize;

use super::distance::Distances;
use crate::confidence::Interval;

/// Of graded trials with a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Predictions {
    /// `action` or `hit`.
    pub metric: String,
    /// Of all groups together.
    pub overall: PredictionGroup,
    /// By fixture or file, in the order of their names.
    pub groups: Vec<PredictionGroup>,
    /// By what was expected: `click`, `move`, `press`, `release`.
    pub kinds: Vec<KindScore>,
    /// Why answers could not be read, most frequent first; at most ten.
    pub unread: Vec<Unread>,
    /// Between predicted and expected points; null where there is no pair of them.
    pub distances: Option<Distances>,
    /// Answers that ended at max_tokens.
    pub cut_answers: u64,
    /// Prompts that were cut to --max-input-size.
    pub cut_prompts: u64,
}

impl Predictions {
    /// What an answer that is worth 1 is called.
    pub(crate) fn exact_name(&self) -> &'static str {
        if self.metric == "hit" { "hit" } else { "exact" }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PredictionGroup {
    pub name: String,
    pub trials: u64,
    /// Mean, from 0 to 1.
    pub score: Option<f64>,
    pub score_ci: Option<Interval>,
    /// Answers that could be read.
    pub parsed: Rate,
    /// Answers worth 1: every action right, and none too much. For `hit`: in the box.
    pub exact: Rate,
}

/// How many of how many.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Rate {
    pub count: u64,
    pub of: u64,
    pub share: Option<f64>,
    pub share_ci: Option<Interval>,
}

/// Expected actions of one kind; what was not predicted is 0.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KindScore {
    pub kind: String,
    pub actions: u64,
    pub exact: u64,
    /// Mean, from 0 to 1.
    pub score: f64,
    /// Over the tasks that they come from.
    pub score_ci: Option<Interval>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unread {
    /// Without the place in the answer.
    pub why: String,
    pub trials: u64,
    /// The first one, with what stood there.
    pub example: String,
}
