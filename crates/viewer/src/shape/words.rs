//! What people say to the viewer.

use agon_store::ReviewVerdict;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::trial::TrialKey;

/// A verdict on a trial, or a comment on one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewOrder {
    pub trial: TrialKey,
    pub verdict: ReviewVerdict,
    #[serde(default)]
    pub comment: String,
    #[serde(default)]
    pub reviewer: String,
}

/// End a trial that is being played.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopOrder {
    pub trial: TrialKey,
    /// When the attempt began that is meant, as the pages and the feed say it; another one of the same number is
    /// not stopped. Left out: whichever is being played.
    #[serde(default)]
    pub began: Option<Timestamp>,
    #[serde(default)]
    pub by: String,
}
