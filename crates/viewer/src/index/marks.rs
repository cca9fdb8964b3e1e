//! What the files of a run folder look like from outside: enough to know whether to read them again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use agon_store::{Locks, RunFolder};

/// A file, as far as one that changed differs from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) inode: u64,
    pub(crate) length: u64,
    changed: (i64, i64),
}

impl Mark {
    /// `None`: there is no such file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            inode: found.ino(),
            length: found.len(),
            changed: (found.mtime(), found.mtime_nsec()),
        })
    }
}

/// Everything that an index depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) manifest: Option<Mark>,
    pub(crate) trials: Option<Mark>,
    pub(crate) reviews: Option<Mark>,
    pub(crate) running: Option<Mark>,
    /// A process writes to the folder.
    pub(crate) live: bool,
}

impl Marks {
    pub(crate) fn of(folder: &RunFolder, locks: &Locks) -> Self {
        Self {
            // First: who ends writes its last line before it lets go.
            live: folder.is_written_by(locks),
            manifest: Mark::of(&folder.manifest_file()),
            trials: Mark::of(&folder.trials_file()),
            reviews: Mark::of(&folder.reviews_file()),
            running: Mark::of(&folder.running_file()),
        }
    }
}
