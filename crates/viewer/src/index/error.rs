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
    /// The file is damaged or is none of ours: it can be emptied and filled again. A question that can't be
    /// answered is no damage.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Sql(rusqlite::Error::SqliteFailure(error, text)) => match error.code {
                ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => true,
                ErrorCode::Unknown => text.as_deref().is_some_and(is_of_other_tables),
                _ => false,
            },
            Self::Sql(rusqlite::Error::SqlInputError { msg, .. }) => is_of_other_tables(msg),
            // Columns hold something else than was written.
            Self::Sql(
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::InvalidColumnIndex(..)
                | rusqlite::Error::Utf8Error(..),
            ) => true,
            Self::Sql(_) | Self::Run(_) | Self::Io(_) => false,
        }
    }

    /// Nothing can be written to the file, as on a disk that is full: it would be the same with another one.
    pub(crate) fn is_no_room(&self) -> bool {
        let Self::Sql(rusqlite::Error::SqliteFailure(error, _)) = self else {
            return false;
        };
        matches!(
            error.code,
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::NoLargeFileSupport
                | ErrorCode::FileLockingProtocolFailed
        )
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

/// What SQLite says of tables that are not as they were made.
fn is_of_other_tables(message: &str) -> bool {
    [
        "no such table",
        "no such column",
        "has no column",
        "columns but",
    ]
    .iter()
    .any(|part| message.contains(part))
}
