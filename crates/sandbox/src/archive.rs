//! The frozen working folder: a tar file in a temporary place, written by a sandbox, read by checks
//! and by the store. Its content is hostile: it is listed and read, never unpacked on the host.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use tempfile::TempPath;

#[derive(Debug)]
pub struct WorkArchive {
    path: TempPath,
    bytes: u64,
    left_out: u64,
}

/// One entry, as far as a check can ask about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    File { content: Vec<u8>, size: u64 },
    Folder,
    Link { target: String },
    Other,
}

impl WorkArchive {
    /// An archive from which nothing is missing.
    pub fn new(path: TempPath) -> io::Result<Self> {
        Self::with_left_out(path, 0)
    }

    /// An archive that does not hold all that was there, see [`WorkArchive::left_out`].
    pub fn with_left_out(path: TempPath, left_out: u64) -> io::Result<Self> {
        let bytes = path.metadata()?.len();
        Ok(Self {
            path,
            bytes,
            left_out,
        })
    }

    pub fn open(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many entries are known to be missing, or to be there without their content, because the
    /// agent made more than an archive may hold. If there are any, that the archive has no such
    /// file proves nothing.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Looks up a path relative to the working folder. Symbolic links are not followed; a hard link
    /// is the file itself. The last entry of that name counts, as it would after unpacking; of a
    /// file at most `limit` bytes are read.
    pub fn find(&self, wanted: &str, limit: u64) -> io::Result<Option<Entry>> {
        let (found, same) = self.look(&normal(Path::new(wanted)), limit)?;
        match same {
            // Once: an archive could name links in a circle.
            Some(path) => Ok(self.look(&path, limit)?.0.or(found)),
            None => Ok(found),
        }
    }

    /// The entry, and of a hard link the path of the entry that it is the same as.
    fn look(&self, wanted: &Path, limit: u64) -> io::Result<(Option<Entry>, Option<PathBuf>)> {
        let (mut found, mut same) = (None, None);
        for entry in tar::Archive::new(io::BufReader::new(self.open()?)).entries()? {
            let mut entry = entry?;
            if normal(&entry.path()?) != wanted {
                continue;
            }
            same = None;
            found = Some(match entry.header().entry_type() {
                tar::EntryType::Regular | tar::EntryType::Continuous => {
                    let size = entry.size();
                    let mut content = Vec::new();
                    (&mut entry).take(limit).read_to_end(&mut content)?;
                    Entry::File { content, size }
                }
                tar::EntryType::Directory => Entry::Folder,
                tar::EntryType::Symlink => {
                    let target = entry.link_name()?.unwrap_or_default();
                    Entry::Link {
                        target: target.to_string_lossy().into_owned(),
                    }
                }
                tar::EntryType::Link => {
                    same = entry.link_name()?.map(|target| normal(&target));
                    Entry::Other
                }
                _ => Entry::Other,
            });
        }
        Ok((found, same))
    }
}

/// `./a//b` and `a/b` are the same entry; `/work/a` is `a`.
fn normal(path: &Path) -> PathBuf {
    let path = path.strip_prefix(crate::contract::WORK).unwrap_or(path);
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .collect()
}
