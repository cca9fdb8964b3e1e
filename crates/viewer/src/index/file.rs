//! The file of an index: opened, made, or kept in memory where there can't be one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::Digest;
use agon_store::{Reviews, RunFolder};
use rusqlite::Connection;

use super::error::IndexError;
use super::intake::Places;
use super::marks::{Mark, Marks};
use super::query::Lists;
use super::state::State;
use super::underway::Underway;

/// Another viewer may be taking in the same run.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Index {
    pub(crate) db: Connection,
    /// As the run folder was when it was last taken in.
    pub(crate) marks: Option<Marks>,
    pub(crate) state: State,
    pub(crate) reviews: Arc<Reviews>,
    pub(crate) reviews_mark: Option<Mark>,
    pub(crate) places: Places,
    pub(crate) underway: Underway,
    pub(crate) lists: Lists,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.db.path().unwrap_or_default();
        f.debug_struct("Index").field("path", &path).finish()
    }
}

impl Index {
    /// Where the index of a run is kept.
    pub(crate) fn place(cache: &Path, folder: &RunFolder) -> PathBuf {
        let real = fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
        let name = Digest::of(real.as_os_str().as_encoded_bytes()).to_hex();
        cache.join("index").join(format!("{name}.sqlite"))
    }

    pub(crate) fn open(path: &Path) -> Result<Self, IndexError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let db = Connection::open(path)?;
        db.busy_timeout(PATIENCE)?;
        // What is lost can be built again: nothing waits for the disk.
        db.pragma_update(None, "journal_mode", "TRUNCATE")?;
        db.pragma_update(None, "synchronous", "OFF")?;
        // A folder that can't be written to must be found out here.
        db.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
        Self::with(db)
    }

    /// Where there is no place for a file.
    pub(crate) fn in_memory() -> Result<Self, IndexError> {
        Self::with(Connection::open_in_memory()?)
    }

    /// Many questions at once: the file is locked and looked at once for all of them, not for each.
    pub(crate) fn in_one<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.db.execute_batch("BEGIN")?;
        let done = work(self);
        let ended = self.db.execute_batch("COMMIT");
        if ended.is_err() {
            self.db.execute_batch("ROLLBACK").ok();
        }
        let value = done?;
        ended?;
        Ok(value)
    }

    fn with(db: Connection) -> Result<Self, IndexError> {
        db.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            db,
            marks: None,
            state: State::default(),
            reviews: Arc::default(),
            reviews_mark: None,
            places: Places::default(),
            underway: Underway::default(),
            lists: Lists::default(),
        })
    }
}

/// Removes a file that is no index any more, with what belongs to it.
pub(crate) fn remove(path: &Path) {
    for end in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        fs::remove_file(PathBuf::from(name)).ok();
    }
}
