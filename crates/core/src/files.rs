//! A tree of files by relative path: what a task brings along. The content stays where it is until
//! somebody needs it; the digest pins it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::digest::{Digest, Hasher};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative, with no `..`: checked by [`FileTree::push`].
    pub path: PathBuf,
    /// Where the content is on the host; empty for what was made in memory: [`FileTree::open`] finds both.
    pub source: PathBuf,
    pub executable: bool,
    pub size: u64,
    pub digest: Digest,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    entries: Vec<FileEntry>,
    /// The content of files that lie nowhere on the host.
    made: BTreeMap<PathBuf, Arc<[u8]>>,
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

    /// Adds a file that lies nowhere on the host.
    pub fn push_made(&mut self, path: PathBuf, content: Arc<[u8]>) -> Result<(), Escapes> {
        self.push(FileEntry {
            path: path.clone(),
            source: PathBuf::new(),
            executable: false,
            size: content.len() as u64,
            digest: Digest::of(&content),
        })?;
        self.made.insert(path, content);
        Ok(())
    }

    /// The content of an entry of this tree, and how much of it there is.
    pub fn open(&self, entry: &FileEntry) -> io::Result<(u64, Box<dyn Read + Send>)> {
        if let Some(content) = self.made.get(&entry.path)
            && entry.source.as_os_str().is_empty()
        {
            let size = content.len() as u64;
            return Ok((size, Box::new(Cursor::new(Arc::clone(content)))));
        }
        let file = File::open(&entry.source)?;
        Ok((file.metadata()?.len(), Box::new(file)))
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
    fn what_was_made_in_memory_can_be_read_and_counts() {
        let mut tree = FileTree::default();
        tree.push_made("a/row.json".into(), Arc::from(*b"{}"))
            .unwrap();
        let entry = &tree.entries()[0];
        let (size, mut content) = tree.open(entry).unwrap();
        let mut text = String::new();
        content.read_to_string(&mut text).unwrap();
        assert_eq!((size, text.as_str()), (2, "{}"));
        let mut other = FileTree::default();
        other
            .push_made("a/row.json".into(), Arc::from(*b"[]"))
            .unwrap();
        assert_ne!(tree.digest(), other.digest());
        assert!(tree.push_made("../x".into(), Arc::from(*b"")).is_err());
    }

    #[test]
    fn paths_that_leave_the_folder_are_refused() {
        for bad in ["../x", "/etc/passwd", "a/../../b", ""] {
            assert!(!stays_inside(Path::new(bad)), "{bad}");
        }
        assert!(stays_inside(Path::new("a/b.txt")));
    }
}
