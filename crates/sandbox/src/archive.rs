//! The frozen working folder: a tar file in a temporary place, written by a sandbox, read by checks
//! and by the store. Its content is hostile: it is listed and read, never unpacked on the host.

use std::fs::File;
use std::io::{self, Read};

use tempfile::TempPath;

use crate::index::{ArchiveIndex, Held};

#[derive(Debug)]
pub struct WorkArchive {
    path: TempPath,
    bytes: u64,
    left_out: u64,
    /// The image has no such folder: see [`WorkArchive::of_new_folder`].
    new_folder: bool,
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
            new_folder: false,
        })
    }

    /// Says that a fresh container of the same image has nothing in this folder, which need not be emptied
    /// then. A record does not keep this.
    #[must_use]
    pub(crate) fn of_new_folder(mut self, is_new: bool) -> Self {
        self.new_folder = is_new;
        self
    }

    pub(crate) fn is_of_new_folder(&self) -> bool {
        self.new_folder
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

    /// Looks up one path, see [`ArchiveIndex`]; of a file at most `limit` bytes are read.
    pub fn find(&self, wanted: &str, limit: u64) -> io::Result<Option<Entry>> {
        let index = ArchiveIndex::of(self.open()?, [wanted.into()])?;
        Ok(match index.get(wanted).cloned() {
            None => None,
            Some(Held::File { at, size }) => {
                let mut content = Vec::new();
                let mut kept = index.content(at, size).take(limit);
                kept.read_to_end(&mut content)?;
                Some(Entry::File { content, size })
            }
            Some(Held::Folder) => Some(Entry::Folder),
            Some(Held::Link { target }) => Some(Entry::Link { target }),
            Some(Held::Other) => Some(Entry::Other),
        })
    }
}
