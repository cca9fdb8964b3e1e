//! What can go wrong while something is shown. Messages say what to do.

use std::path::PathBuf;

use agon_report::ReportError;
use agon_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    /// No such run, trial, step or blob.
    #[error("{0}")]
    NotFound(String),
    /// The request is none that can be answered.
    #[error("{0}")]
    BadRequest(String),
    /// More was sent than is read.
    #[error("{0}")]
    TooLarge(String),
    /// Nobody said who asks.
    #[error("{0}")]
    Unknown(String),
    /// The request may not be answered.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("the index {path} can't be used: {source}; remove it, it will be built again")]
    Index {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("{what} {path}: {source}")]
    Io {
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("a page can't be drawn: {0}")]
    Page(#[from] askama::Error),
    #[error("{0}")]
    Internal(String),
}

impl ViewerError {
    pub(crate) fn io(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}
