//! Why result files could not be read or written.

use std::io;
use std::path::{Path, PathBuf};

use agon_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error("{what} {}: {source}", .path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is no result of a test case: {why}", .path.display())]
    Broken { path: PathBuf, why: String },
    #[error("{} is a run folder already: use it as it is", .0.display())]
    RunFolder(PathBuf),
    #[error(
        "there is no result file at {}: give a folder with <category>/<id>.json in it, or such a file",
        .0.display()
    )]
    Nothing(PathBuf),
    #[error(
        "the category `{0}` can't have its result files in a run folder, which has a `{0}` of its own: \
         rename the category, or write the files elsewhere with `agon export RUN --format osuniverse`"
    )]
    Category(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ResultsError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
