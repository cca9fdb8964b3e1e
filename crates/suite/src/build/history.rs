//! Histories of repositories among the files that an agent sees. A history has what was removed, and what comes
//! later, the answer among it: such a task is not played.

use std::path::Path;
use std::sync::LazyLock;

use agon_core::files::FileTree;
use regex::Regex;

/// A file of a repository's store, whatever the repository is called.
static OBJECT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(^|/)objects/([0-9a-f]{2}/[0-9a-f]{38,}|pack/[^/]+)$").ok());

/// Why a task with these files can't be played, and what to do.
pub(super) fn refusal(visible: &FileTree) -> Option<String> {
    let entries = visible.entries();
    let entry = entries.iter().find(|entry| is_history(&entry.path))?;
    let path = entry.path.display();
    Some(format!(
        "visible/{path} is part of a git history: let the set-up make the repository"
    ))
}

fn is_history(path: &Path) -> bool {
    let dotted = path.components().any(|part| part.as_os_str() == ".git");
    let object = OBJECT.as_ref();
    dotted || object.is_some_and(|object| object.is_match(&path.to_string_lossy()))
}
