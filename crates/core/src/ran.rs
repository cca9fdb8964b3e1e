//! A command that was run to grade a trial, and what it printed: kept in the record, so that the trial
//! can be graded again where its environment is gone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RanCommand {
    pub command: String,
    /// `None`: it did not end by itself, or nobody knows how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// How it ended, in words.
    pub exit: String,
    pub stdout: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Bytes of both streams that are not kept as they were: left out of the middle, or no text. What is
    /// not whole decides nothing again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
    /// It ran where the agent had been, or somebody else reports it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
