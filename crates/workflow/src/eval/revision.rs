//! Which commit the working folder is at, read from its `.git` without running anything.

use std::fs;
use std::path::Path;

/// No file of these is longer.
const LONGEST: u64 = 16 << 20;

/// `None` outside of a git work tree.
pub(super) fn commit_of(folder: &Path) -> Option<String> {
    let git = folder
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|git| git.exists())?;
    let git = match git.is_file() {
        // A work tree apart: the file names the folder.
        true => git
            .parent()?
            .join(read(&git)?.trim().strip_prefix("gitdir: ")?),
        false => git,
    };
    let head = read(&git.join("HEAD"))?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else {
        return is_commit(head).then(|| head.to_owned());
    };
    let shared = read(&git.join("commondir")).map(|path| git.join(path.trim()));
    [Some(git), shared].into_iter().flatten().find_map(|git| {
        let loose = read(&git.join(name)).map(|commit| commit.trim().to_owned());
        loose
            .or_else(|| packed(&git, name))
            .filter(|c| is_commit(c))
    })
}

fn packed(git: &Path, name: &str) -> Option<String> {
    let refs = read(&git.join("packed-refs"))?;
    let commit = refs
        .lines()
        .find_map(|line| line.strip_suffix(name)?.strip_suffix(' '))?;
    Some(commit.to_owned())
}

fn read(path: &Path) -> Option<String> {
    let small = fs::metadata(path).ok()?.len() <= LONGEST;
    small.then(|| fs::read_to_string(path).ok())?
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
