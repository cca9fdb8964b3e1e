//! What can be wrong with result files and datasets.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EvalFileError {
    #[error(
        "row {row} of the dataset has no usable `instance_id`: give every row one, a text or a number"
    )]
    NoId { row: usize },
    #[error("the dataset has two rows with the instance_id `{0}`: every row needs one of its own")]
    SameId(String),
    #[error("the dataset has no instance {0}")]
    UnknownIds(String),
    #[error(
        "{path} is of another experiment, which differs in: {keys}. Use another --eval-note or --eval-output-dir"
    )]
    OtherExperiment { path: PathBuf, keys: String },
    #[error("`{0}` can't be part of the output folder's name: use plain names without `..`")]
    Name(String),
    #[error(
        "{path} is there already and not an export of this run: use another --out, or move away what is there"
    )]
    NotOfThisRun { path: PathBuf },
    #[error("{path} is being written by another process: wait for it, or use another folder")]
    Locked { path: PathBuf },
    #[error("{path}, line {line}: {why}")]
    Broken {
        path: PathBuf,
        line: usize,
        why: String,
    },
    #[error("{path} holds no row that can be read: {why}")]
    NoRow { path: PathBuf, why: String },
    #[error("{context} {path}: {source}")]
    Io {
        context: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(transparent)]
    Store(#[from] agon_store::StoreError),
}

impl EvalFileError {
    pub fn io(context: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            context,
            path,
            source,
        }
    }
}
