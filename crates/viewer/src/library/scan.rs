//! Looks for run folders. Never follows links below what was named, and never looks into a run.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_store::RunFolder;

/// Folders below a root are looked into down to this depth.
const DEEPEST: u32 = 4;
/// Entries of one folder that are looked at, and folders in all.
const MOST_ENTRIES: usize = 10_000;
const MOST_FOLDERS: usize = 100_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// As it was named.
    pub(super) path: PathBuf,
    /// Where it really is.
    pub(super) real: PathBuf,
}

/// Each run once, in the order of the roots, then of their paths.
pub(super) fn runs(roots: &[PathBuf]) -> Vec<Found> {
    let mut search = Search::default();
    for root in roots {
        search.look(root, 0);
    }
    search.found
}

#[derive(Default)]
struct Search {
    found: Vec<Found>,
    seen: HashSet<PathBuf>,
    folders: usize,
}

impl Search {
    fn look(&mut self, folder: &Path, depth: u32) {
        self.folders += 1;
        if self.folders > MOST_FOLDERS {
            return;
        }
        if is_run(folder) || is_closed(folder) {
            let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            if self.seen.insert(real.clone()) {
                let path = folder.to_owned();
                self.found.push(Found { path, real });
            }
            return;
        }
        if depth == DEEPEST {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let mut below: Vec<PathBuf> = entries
            .take(MOST_ENTRIES)
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .map(|entry| entry.path())
            .collect();
        below.sort();
        for path in below {
            self.look(&path, depth + 1);
        }
    }
}

/// A folder that may not be looked into could be a run: it is listed as one, with the reason.
fn is_closed(folder: &Path) -> bool {
    let denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let manifest = RunFolder::at(folder).manifest_file();
    fs::symlink_metadata(manifest).is_err_and(denied) || fs::read_dir(folder).is_err_and(denied)
}

/// Also one that lost its manifest, or has something else in its place: it is listed with the reason.
pub(crate) fn is_run(folder: &Path) -> bool {
    let folder = RunFolder::at(folder);
    [folder.manifest_file(), folder.trials_file()]
        .iter()
        .any(|file| fs::symlink_metadata(file).is_ok_and(|found| !found.is_dir()))
}
