//! Programs that a suite brings along for its environments. Those of this machine are looked up
//! when a task is played.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use agon_core::Environment;
use agon_core::files::{FileEntry, FileTree};

use crate::source::{Node, NodeError};
use crate::tree;

/// `task` is the root of the task's file, `root` the suite's folder.
pub(super) fn programs(
    environment: &Environment,
    task: &Node,
    root: &Path,
    errors: &mut Vec<NodeError>,
) -> FileTree {
    let written = task
        .get("environment")
        .and_then(|node| node.get("programs"))
        .map_or(&[][..], Node::items);
    let mut names = HashSet::new();
    let mut found = FileTree::default();
    for (place, program) in environment.programs.iter().enumerate() {
        let span = written.get(place).map_or_else(|| task.head(), Node::head);
        let name = program.rsplit('/').next().unwrap_or(program);
        let added = if names.insert(name) {
            match program.contains('/') {
                true => of_suite(root, program)
                    .and_then(|entry| found.push(entry).map_err(|error| error.to_string())),
                false => Ok(()),
            }
        } else {
            Err(format!("there are two programs called `{name}`"))
        };
        if let Err(message) = added {
            errors.push(NodeError::new(message).at(span));
        }
    }
    found.sort();
    found
}

fn of_suite(root: &Path, program: &str) -> Result<FileEntry, String> {
    let lost = |error| format!("there is no program `{program}` in the suite: {error}");
    let real_root = fs::canonicalize(root).map_err(lost)?;
    let real = fs::canonicalize(root.join(program)).map_err(lost)?;
    if !real.starts_with(&real_root) {
        return Err(format!("`{program}` leads out of the suite"));
    }
    let entry = tree::entry(&real, Path::new(program)).map_err(lost)?;
    match entry.executable {
        true => Ok(entry),
        false => Err(format!("`{program}` can't be run: try chmod +x")),
    }
}
