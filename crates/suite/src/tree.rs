//! The file trees of a task, `visible/` and `verify/`: hashed, bounded, and closed. A link may point
//! at a file of the same tree and nowhere else, so that a suite can't pull in host files.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;

use agon_core::digest::{Digest, Hasher};
use agon_core::files::{Escapes, FileEntry, FileTree};

use crate::error::SuiteError;

const MAX_FILES: usize = 10_000;
const MAX_BYTES: u64 = 512 << 20;
const MAX_DEPTH: usize = 32;

/// Reads a tree; one that is not there is empty.
pub(crate) fn read(root: &Path) -> Result<FileTree, SuiteError> {
    let mut walk = Walk {
        tree: FileTree::default(),
        bytes: 0,
    };
    match fs::symlink_metadata(root) {
        Ok(meta) if meta.is_dir() => {
            let real = fs::canonicalize(root).map_err(|e| SuiteError::unreadable(root, e))?;
            walk.folder(&real, root, Path::new(""), 0)?;
        }
        Ok(_) => return Err(SuiteError::layout(root, "must be a folder")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(SuiteError::unreadable(root, error)),
    }
    walk.tree.sort();
    Ok(walk.tree)
}

/// One tree with another over it: where both have a file, the upper one counts.
pub(crate) fn over(below: &FileTree, top: &FileTree) -> Result<FileTree, Escapes> {
    let mut tree = FileTree::default();
    for entry in below.entries() {
        if top.find(&entry.path).is_none() {
            tree.push(entry.clone())?;
        }
    }
    for entry in top.entries() {
        tree.push(entry.clone())?;
    }
    tree.sort();
    Ok(tree)
}

struct Walk {
    tree: FileTree,
    bytes: u64,
}

impl Walk {
    fn folder(
        &mut self,
        real_root: &Path,
        folder: &Path,
        relative: &Path,
        depth: usize,
    ) -> Result<(), SuiteError> {
        let failed = |error| SuiteError::unreadable(folder, error);
        if depth > MAX_DEPTH {
            return Err(SuiteError::layout(
                folder,
                format!("folders are nested deeper than {MAX_DEPTH}"),
            ));
        }
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let relative = relative.join(entry.file_name());
            let kind = entry
                .file_type()
                .map_err(|e| SuiteError::unreadable(&path, e))?;
            if kind.is_dir() {
                self.folder(real_root, &path, &relative, depth + 1)?;
            } else if kind.is_symlink() {
                let inside = fs::canonicalize(&path).is_ok_and(|real| real.starts_with(real_root));
                if !inside {
                    return Err(SuiteError::layout_help(
                        path,
                        "this link leaves its folder",
                        "put a copy of the file here",
                    ));
                }
                self.file(&path, &relative)?;
            } else {
                self.file(&path, &relative)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, relative: &Path) -> Result<(), SuiteError> {
        let failed = |error| SuiteError::unreadable(path, error);
        let meta = fs::metadata(path).map_err(failed)?;
        if !meta.is_file() {
            return Err(SuiteError::layout(path, "is neither a file nor a folder"));
        }
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.tree.entries().len() >= MAX_FILES || self.bytes > MAX_BYTES {
            return Err(SuiteError::layout(
                path,
                format!("the tree is too large: at most {MAX_FILES} files and 512 MiB"),
            ));
        }
        let entry = entry(path, relative).map_err(failed)?;
        self.tree
            .push(entry)
            .map_err(|error| SuiteError::layout(path, error.to_string()))
    }
}

/// A file as an entry under a relative path.
pub(crate) fn entry(path: &Path, relative: &Path) -> std::io::Result<FileEntry> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(std::io::Error::other("is not a file"));
    }
    Ok(FileEntry {
        path: relative.to_owned(),
        source: path.to_owned(),
        executable: executable(&meta),
        size: meta.len(),
        digest: digest(path)?,
    })
}

fn executable(meta: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

fn digest(path: &Path) -> std::io::Result<Digest> {
    let mut file = File::open(path)?.take(MAX_BYTES + 1);
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_hashed_in_order_of_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("b/c.txt"), "c").unwrap();
        fs::write(folder.path().join("a.txt"), "a").unwrap();
        symlink("a.txt", folder.path().join("z.txt")).unwrap();
        let tree = read(folder.path()).unwrap();
        let paths: Vec<_> = tree.entries().iter().map(|e| e.path.as_path()).collect();
        assert_eq!(paths, ["a.txt", "b/c.txt", "z.txt"].map(Path::new));
        assert_eq!(tree.entries()[2].digest, Digest::of(b"a"));
    }

    #[test]
    fn links_that_leave_the_folder_are_refused() {
        for target in ["/etc/hostname", "../outside", "missing", "."] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("outside"), "x").unwrap();
            let root = folder.path().join("visible");
            fs::create_dir(&root).unwrap();
            symlink(target, root.join("link")).unwrap();
            assert!(read(&root).is_err(), "{target}");
        }
    }

    #[test]
    fn a_tree_that_is_not_there_is_empty() {
        assert!(read(Path::new("/nonexistent/visible")).unwrap().is_empty());
    }
}
