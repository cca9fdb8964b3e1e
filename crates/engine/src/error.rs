//! What ends a run early. Faults of single trials are not errors: they are recorded outcomes.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] agon_store::StoreError),
    /// Results can't be written any more, so going on would lose them.
    #[error(
        "can't write results to {folder}: {source}; free some space, then go on with: agon run --resume {folder}"
    )]
    Write { folder: String, source: io::Error },
}
