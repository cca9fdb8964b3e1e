//! What grading says: a result per check, a verdict per trial, and the outcome that is counted.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judged::Judged;
use crate::prediction::ScoredPrediction;

/// How many checks that failed are named, and characters of each name.
const MOST_NAMES: usize = 16;
const LONGEST_NAME: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// The check's name, or its type and subject (`file greeting.txt`).
    pub check: String,
    pub passed: bool,
    /// From 0 to 1; between them only where a check gives partial credit.
    pub score: f64,
    /// What was expected and what was found.
    pub reason: String,
    pub weight: f64,
    /// What was measured, in its own unit, such as the score that a game shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Ran in a place that the agent had touched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// Signs of tampering, such as a forged verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
    /// What the check's own program printed, where it ran one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<CheckOutput>,
    /// A predicted action and how it was scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Box<ScoredPrediction>>,
    /// What a judge said, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Box<Judged>>,
    /// Parts of `all` and `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CheckResult>,
}

impl CheckResult {
    /// With full or no credit, and nothing else to say.
    pub fn plain(check: impl Into<String>, passed: bool, reason: impl Into<String>) -> Self {
        Self {
            check: check.into(),
            passed,
            score: f64::from(u8::from(passed)),
            reason: reason.into(),
            weight: 1.0,
            value: None,
            tainted: false,
            integrity: None,
            output: None,
            prediction: None,
            judged: None,
            parts: Vec::new(),
        }
    }
}

/// How a check's program ended, and the head and the tail of what it printed. Evidence for readers:
/// the agent may have written it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckOutput {
    pub exit: String,
    pub stdout: String,
    pub stderr: String,
    /// Bytes left out of the middle of both streams.
    #[serde(default)]
    pub omitted: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    pub passed: bool,
    pub score: f64,
    pub checks: Vec<CheckResult>,
}

impl Verdict {
    pub fn tainted(&self) -> bool {
        self.checks.iter().any(|check| check.tainted)
    }
    /// The first value that a check measured, be it a part of another.
    pub fn measured(&self) -> Option<f64> {
        fn find(checks: &[CheckResult]) -> Option<f64> {
            checks
                .iter()
                .find_map(|c| c.value.or_else(|| find(&c.parts)))
        }
        find(&self.checks)
    }

    /// Names of the checks that did not pass, parts aside; as many and as much of them as a line of results has
    /// room for.
    pub fn failed_checks(&self) -> Vec<String> {
        let failed = self.checks.iter().filter(|check| !check.passed);
        let name = |check: &CheckResult| {
            let plain = check.check.chars();
            let plain = plain.map(|c| if c.is_control() { ' ' } else { c });
            plain.take(LONGEST_NAME).collect()
        };
        failed.take(MOST_NAMES).map(name).collect()
    }

    /// The first sign of tampering, in any check or part of one.
    pub fn integrity(&self) -> Option<&str> {
        fn find(checks: &[CheckResult]) -> Option<&str> {
            checks
                .iter()
                .find_map(|c| c.integrity.as_deref().or_else(|| find(&c.parts)))
        }
        find(&self.checks)
    }
}

/// How a trial ended, as counted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Faulted,
}

impl Outcome {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Faulted => "faulted",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why the agent's turn ended. Never a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The agent said `finish`.
    Finished,
    /// The agent refused the task.
    Rejected,
    /// It repeated itself without getting on.
    Stuck,
    /// It closed the conversation without `finish`.
    Left,
    /// Its program crashed.
    Crashed,
    /// It sent something that is no action, too often or too large.
    Garbage,
    /// It did not answer a step in time.
    Silent,
    StepLimit,
    TimeLimit,
    TokenLimit,
    MoneyLimit,
    /// It brought its own environment down (out of memory, or by programs that can't be ended).
    BroughtDown,
    /// It ended the X server of its own desktop.
    ScreenLost,
    /// The world ended: the game is over.
    WorldEnded,
    /// A person ended it: by the key that stops everything, or by asking for it.
    Operator,
}

impl TurnEnd {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Rejected => "rejected",
            Self::Stuck => "stuck",
            Self::Left => "left",
            Self::Crashed => "crashed",
            Self::Garbage => "garbage",
            Self::Silent => "silent",
            Self::StepLimit => "step_limit",
            Self::TimeLimit => "time_limit",
            Self::TokenLimit => "token_limit",
            Self::MoneyLimit => "money_limit",
            Self::BroughtDown => "brought_down",
            Self::ScreenLost => "screen_lost",
            Self::WorldEnded => "world_ended",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for TurnEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_failed_are_named_within_bounds() {
        let check = |name: &str, passed| CheckResult::plain(name, passed, "");
        let verdict = |checks| Verdict {
            passed: false,
            score: 0.0,
            checks,
        };
        let mut all = check("all", false);
        all.parts = vec![check("part", false)];
        let some = verdict(vec![check("fine", true), all, check("a\nb", false)]);
        assert_eq!(some.failed_checks(), ["all", "a b"]);
        let many = verdict(vec![check(&"ä".repeat(1000), false); 20]);
        assert_eq!(many.failed_checks(), vec!["ä".repeat(200); 16]);
    }
}
