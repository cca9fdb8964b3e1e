//! Answers that lie where the agent can see them: fields of a dataset that are hidden and yet told.
//! Patches without a repository.

use std::collections::HashMap;
use std::io::Read;

use agon_core::files::{FileEntry, FileTree};
use agon_core::{HandIn, Task};
use serde_json::Value;

use super::Severity;
use crate::load::Suite;

type Found = (Severity, String);

/// Shorter ones are found everywhere by chance.
const SHORTEST: usize = 6;
/// Larger files are hardly read by anybody.
const MAX_READ: u64 = 1 << 20;
/// What is kept of files that many tasks have in common.
const MAX_KEPT: usize = 64 << 20;

/// Looks for what is hidden; remembers files, which tasks of a dataset share.
#[derive(Debug, Default)]
pub(super) struct Search {
    read: HashMap<agon_core::Digest, String>,
    kept: usize,
}

impl Search {
    pub(super) fn findings(&mut self, suite: &Suite, task: &Task) -> Vec<Found> {
        let mut found = Vec::new();
        for field in &suite.hidden {
            let row = task.instance.on_host().as_ref();
            let Some(value) = row.and_then(|row| row.get(field)) else {
                continue;
            };
            let mut secrets = Vec::new();
            texts(value, &mut secrets);
            if secrets
                .iter()
                .any(|secret| task.instruction.show().contains(secret))
            {
                found.push((
                    severity(&secrets),
                    format!("the instruction tells the hidden field `{field}`"),
                ));
            }
            for entry in task.visible.show().entries() {
                if self.tells(task.visible.show(), entry, &secrets) {
                    let path = entry.path.display();
                    let message = format!("visible/{path} tells the hidden field `{field}`");
                    found.push((severity(&secrets), message));
                }
            }
        }
        found
    }

    fn tells(&mut self, tree: &FileTree, entry: &FileEntry, secrets: &[&str]) -> bool {
        if secrets.is_empty() || entry.size > MAX_READ {
            return false;
        }
        if let Some(text) = self.read.get(&entry.digest) {
            return secrets.iter().any(|secret| text.contains(secret));
        }
        let mut bytes = Vec::new();
        let read = tree
            .open(entry)
            .and_then(|(_, content)| content.take(MAX_READ).read_to_end(&mut bytes));
        if read.is_err() {
            return false;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let tells = secrets.iter().any(|secret| text.contains(secret));
        if self.kept + text.len() <= MAX_KEPT {
            self.kept += text.len();
            self.read.insert(entry.digest, text);
        }
        tells
    }
}

/// One line may be there for a reason, such as a choice among several; a patch may not.
fn severity(secrets: &[&str]) -> Severity {
    match secrets.iter().any(|secret| secret.contains('\n')) {
        true => Severity::Error,
        false => Severity::Warning,
    }
}

/// The texts of a value that are long enough to say something.
fn texts<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if text.trim().len() >= SHORTEST => into.push(text.trim()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, into)),
        _ => {}
    }
}

/// A patch needs something that it is a patch of.
pub(super) fn repository(task: &Task) -> Vec<Found> {
    let HandIn::Patch(rules) = &task.hand_in else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let brought =
        |entry: &FileEntry| rules.repository == "." || entry.path.starts_with(&rules.repository);
    let has_files = task.visible.show().entries().iter().any(brought);
    // An image can bring it, in the working folder that the task names.
    let from_image = task.environment.is_container() && task.environment.cwd.is_some();
    if task.setup.is_none() && !from_image {
        let message = match has_files {
            true => "a patch is handed in, and no set-up makes the repository of it",
            false => "a patch is handed in, and nothing makes the repository",
        };
        let severity = match task.environment.is_container() {
            true => Severity::Warning,
            false => Severity::Error,
        };
        found.push((severity, message.to_owned()));
    }
    found
}
