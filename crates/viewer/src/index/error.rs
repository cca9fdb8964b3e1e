//! Why an index can't be used: because of itself, which building it again may mend, or because of the
//! run folder.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::ViewerError;

#[derive(Debug)]
pub(crate) enum IndexError {
    Sql(rusqlite::Error),
    Run(ViewerError),
    /// While a file of the run was read; [`IndexError::reading`] says which.
    Io(io::Error),
}

impl IndexError {
    /// The file is damaged, is none of ours, or is gone: another one can take its place.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Sql(rusqlite::Error::SqliteFailure(error, _)) => !matches!(
                error.code,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked
            ),
            Self::Sql(_) => true,
            Self::Run(_) | Self::Io(_) => false,
        }
    }

    pub(crate) fn reading(self, path: &Path) -> Self {
        match self {
            Self::Io(source) => Self::Run(ViewerError::io("can't read", path)(source)),
            other => other,
        }
    }

    pub(crate) fn at(self, path: &Path) -> ViewerError {
        match self {
            Self::Run(error) => error,
            Self::Io(source) => ViewerError::io("can't read a run for", path)(source),
            Self::Sql(source) => ViewerError::Index {
                path: path.to_owned(),
                source,
            },
        }
    }
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ViewerError> for IndexError {
    fn from(error: ViewerError) -> Self {
        Self::Run(error)
    }
}

impl From<agon_store::StoreError> for IndexError {
    fn from(error: agon_store::StoreError) -> Self {
        Self::Run(error.into())
    }
}
