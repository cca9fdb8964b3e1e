//! What a judge said about one check, as it is recorded. How a judge is asked is the business of the
//! `grade` crate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::usage::Usage;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// As it was asked for: the name of a section, or `openai/gpt-4o`.
    pub model: String,
    /// In the order in which they were asked for; the majority decides.
    pub votes: Vec<Vote>,
    /// Of all votes together.
    #[serde(default, skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// How many screens were shown, of those that changed; `None` where no steps were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Frames>,
    /// Words in the evidence that give orders to a judge, as they stand there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspicious: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frames {
    pub shown: u32,
    pub of: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Vote {
    /// Said before the verdict.
    pub reasoning: String,
    pub passed: bool,
    /// From 0 to 1, as the judge says.
    pub confidence: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Cited>,
}

/// What a vote rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cited {
    /// The agent's step, from 1; `None`: something else, such as the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    pub what: String,
}

impl Judged {
    /// Whether its votes were not all the same.
    pub fn split(&self) -> bool {
        self.votes
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.passed != b.passed))
    }

    /// The lowest confidence of those who were in the majority.
    pub fn confidence(&self, passed: bool) -> f64 {
        let agreed = self.votes.iter().filter(|vote| vote.passed == passed);
        agreed.map(|vote| vote.confidence).fold(1.0, f64::min)
    }
}
