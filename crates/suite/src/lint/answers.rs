//! Tasks that have the same answer: one leak, or one answer learnt by heart, solves them all.

use std::collections::BTreeMap;

use agon_core::check::{Check, CheckKind, ProseSubject, TextTest};
use agon_core::{Task, TaskId};

use super::{Finding, Severity};

/// Answers such as `3` or `yes` are the same by chance.
const CHANCE: usize = 4;

pub(super) fn shared(tasks: &[Task]) -> Vec<Finding> {
    let mut by_answer: BTreeMap<String, Vec<&TaskId>> = BTreeMap::new();
    for task in tasks {
        let mut answers = Vec::new();
        task.checks.inspect(|checks| collect(checks, &mut answers));
        answers.sort();
        answers.dedup();
        for answer in answers {
            by_answer.entry(answer).or_default().push(&task.id);
        }
    }
    by_answer
        .values()
        .filter_map(|ids| match ids.as_slice() {
            [first, second, rest @ ..] => Some(Finding {
                task: (*first).clone(),
                severity: Severity::Warning,
                message: match rest.len() {
                    0 => format!("has the same answer as {second}"),
                    more => format!("has the same answer as {second} and {more} more"),
                },
            }),
            _ => None,
        })
        .collect()
}

fn collect(checks: &[Check], answers: &mut Vec<String>) {
    for check in checks {
        match &check.kind {
            CheckKind::ReturnedResult { tests } => {
                answers.extend(tests.iter().filter_map(|test| match test {
                    TextTest::Equals(text) if text.len() >= CHANCE => Some(text.clone()),
                    _ => None,
                }));
            }
            CheckKind::Prose {
                subject: ProseSubject::ReturnedResult,
                value,
            } => answers.push(value.clone()),
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => collect(checks, answers),
            _ => {}
        }
    }
}
