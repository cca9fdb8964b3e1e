//! A tree of files by relative path: what a task brings along. The content stays where it is until
//! somebody needs it; the digest pins it.

use std::path::{Component, Path, PathBuf};

use crate::digest::{Digest, Hasher};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative, with no `..`: checked by [`FileTree::push`].
    pub path: PathBuf,
    /// Where the content is on the host.
    pub source: PathBuf,
    pub executable: bool,
    pub size: u64,
    pub digest: Digest,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    entries: Vec<FileEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not stay inside its folder")]
pub struct Escapes(pub String);

impl FileTree {
    pub fn push(&mut self, entry: FileEntry) -> Result<(), Escapes> {
        if !stays_inside(&entry.path) {
            return Err(Escapes(entry.path.display().to_string()));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// In order of path once [`FileTree::sort`] was called.
    pub fn entries(&self) -> &[FileEntry] {
        &self.entries
    }

    pub fn sort(&mut self) {
        self.entries.sort_by(|a, b| a.path.cmp(&b.path));
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn find(&self, path: &Path) -> Option<&FileEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::default();
        for entry in &self.entries {
            hasher.part(entry.path.as_os_str().as_encoded_bytes());
            hasher.part(&[u8::from(entry.executable)]);
            hasher.part(entry.digest.bytes());
        }
        hasher.finish()
    }
}

/// Whether a relative path names something below its folder.
pub fn stays_inside(path: &Path) -> bool {
    !path.as_os_str().is_empty()
        && path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_folder_are_refused() {
        for bad in ["../x", "/etc/passwd", "a/../../b", ""] {
            assert!(!stays_inside(Path::new(bad)), "{bad}");
        }
        assert!(stays_inside(Path::new("a/b.txt")));
    }
}
