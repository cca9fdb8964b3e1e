//! What can go wrong with a run folder.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{what} {}: {source}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is no run folder: it holds no run.json", .0.display())]
    NotARun(PathBuf),
    #[error("{} is in use by another agon: wait for it, or choose another --out", .0.display())]
    Locked(PathBuf),
    #[error("{} can't be read: {message}", path.display())]
    Broken { path: PathBuf, message: String },
    #[error(
        "{} has format {found}, this agon reads up to {}: use a newer agon",
        path.display(),
        crate::stored::FORMAT
    )]
    Newer { path: PathBuf, found: u64 },
    #[error("{} holds other things and no run: choose another --out", .0.display())]
    Occupied(PathBuf),
    #[error("{} can't be a run folder: {source}: choose another --out", path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

impl StoreError {
    pub fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            what,
            path: path.to_owned(),
            source,
        }
    }
}
