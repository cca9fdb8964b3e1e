//! Findings, and the walk over a suite that collects them.

use agon_core::TaskId;
use serde::Serialize;

use super::{answers, secrets, task};
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
    let mut search = secrets::Search::default();
    let mut findings = Vec::new();
    for task in &suite.tasks {
        if let Some(why) = &task.unplayable {
            findings.push(Finding {
                task: task.id.clone(),
                severity: Severity::Error,
                message: format!("can't be played: {why}"),
            });
            continue;
        }
        findings.extend(task::findings(task));
        let found = search.findings(suite, task).into_iter();
        findings.extend(found.map(|(severity, message)| Finding {
            task: task.id.clone(),
            severity,
            message,
        }));
    }
    findings.extend(suite.notes.iter().cloned());
    findings.extend(answers::shared(&suite.tasks));
    findings
}
