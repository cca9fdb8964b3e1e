//! Findings, and the walk over a suite that collects them.

use agon_core::TaskId;
use serde::Serialize;

use super::{answers, task};
use crate::load::Suite;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The task can't give a trustworthy score.
    Error,
    /// Probably a mistake.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub task: TaskId,
    pub severity: Severity,
    pub message: String,
}

/// Findings task by task, then those between tasks.
pub fn lint(suite: &Suite) -> Vec<Finding> {
    let mut findings: Vec<Finding> = suite.tasks.iter().flat_map(task::findings).collect();
    findings.extend(answers::shared(&suite.tasks));
    findings
}
