//! What is taken of the working folder when the turn is over: what is graded, and what is kept.

use std::path::Path;

use agon_core::files::stays_inside;
use agon_core::{EnvironmentKind, HandIn, PatchRules};
use globset::Glob;

use crate::format::HandInFile;
use crate::source::{Node, NodeError};

const MAX_COLLECTED: usize = 100;

/// `task` is the root of the task's file.
pub(super) fn hand_in(
    file: Option<HandInFile>,
    task: &Node,
    errors: &mut Vec<NodeError>,
) -> HandIn {
    let Some(file) = file else {
        return HandIn::Work;
    };
    let node = task.get("hand_in").unwrap_or(task);
    let place = |key: &str| node.get(key).map_or_else(|| node.head(), Node::head);
    let repository = file.patch.trim_end_matches('/');
    if repository != "." && !stays_inside(Path::new(repository)) {
        let message = format!("`{}` is no folder of the working folder", file.patch);
        errors.push(
            NodeError::new(message)
                .help("write a relative path without `..`, or `.` for the working folder itself")
                .at(place("patch")),
        );
    }
    for glob in &file.protected {
        if let Err(error) = Glob::new(glob) {
            let message = format!("`{glob}` is no glob: {}", error.kind());
            errors.push(NodeError::new(message).at(place("protected")));
        }
    }
    HandIn::Patch(PatchRules {
        repository: repository.to_owned(),
        protected: file.protected,
    })
}

pub(super) fn collect(files: &[String], task: &Node, errors: &mut Vec<NodeError>) {
    let written = task.get("collect").map_or(&[][..], Node::items);
    for (at, file) in files.iter().enumerate() {
        if !stays_inside(Path::new(file)) {
            let span = written.get(at).map_or_else(|| task.head(), Node::head);
            errors.push(
                NodeError::new(format!(
                    "`{file}` does not name a file below the working folder"
                ))
                .help("write a relative path without `.` and `..`")
                .at(span),
            );
        }
    }
    if files.len() > MAX_COLLECTED {
        let span = task.key_span("collect").unwrap_or_else(|| task.head());
        let message = format!("at most {MAX_COLLECTED} files are collected");
        errors.push(NodeError::new(message).at(span));
    }
}

/// A conversation leaves no files behind.
pub(super) fn fits(kind: EnvironmentKind, task: &Node, errors: &mut Vec<NodeError>) {
    if kind != EnvironmentKind::None {
        return;
    }
    for key in ["hand_in", "collect", "complete_cmd"] {
        if let Some(span) = task.key_span(key)
            && !task.get(key).is_none_or(Node::is_null)
        {
            let message = format!("kind: none has no files: `{key}` has nothing to look at");
            errors.push(NodeError::new(message).at(span));
        }
    }
}
