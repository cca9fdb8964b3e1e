//! Findings about a task file as it is written, before dates are filled in and words get their meaning. Made
//! while a suite is read, because a task does not tell any more.

use std::sync::LazyLock;

use agon_core::TaskId;
use regex::Regex;

use super::{Finding, Severity};
use crate::source::{Content, Node};

static MONTH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[%MONTH\+[0-9]+%\]").ok());

/// Of one file.
pub(crate) fn as_written(id: &TaskId, file: &Node) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |severity, message: &str| {
        found.push(Finding {
            task: id.clone(),
            severity,
            message: message.to_owned(),
        });
    };
    let none =
        |node: &Node| matches!(&node.content, Content::Scalar { text, .. } if text == "None");
    if file.get("setup_cmd").is_some_and(none) {
        say(
            Severity::Note,
            "setup_cmd is the word None, which other programs run as a command: leave it out",
        );
    }
    let expanded = [file.get("task"), file.get("checks")];
    if expanded.into_iter().flatten().any(holds_month) {
        say(
            Severity::Warning,
            "it asks for a month counted from today, [%MONTH+k%]: played later, it is another task",
        );
    }
    found
}

fn holds_month(node: &Node) -> bool {
    match &node.content {
        Content::Scalar { text, .. } => MONTH.as_ref().is_some_and(|month| month.is_match(text)),
        Content::Sequence(items) => items.iter().any(holds_month),
        Content::Mapping(pairs) => pairs.iter().any(|(_, value)| holds_month(value)),
    }
}
