//! The file of an index: opened, made, or kept in memory where there can't be one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agon_core::{Clock, Digest, SystemClock};
use agon_store::{Reviews, RunFolder};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::error::IndexError;
use super::intake::Places;
use super::marks::{Mark, Marks};
use super::query::Lists;
use super::schema::VERSION;
use super::state::State;
use super::underway::Underway;

/// Another viewer may be taking in the same run.
const PATIENCE: Duration = Duration::from_secs(10);

/// An index that nobody opened for this long is removed.
const OLD: Duration = Duration::from_hours(60 * 24);
/// Files that are looked at for that.
const MOST_SWEPT: usize = 100_000;

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
    /// Why it is not in its file, where it should be.
    pub(crate) unkept: Option<String>,
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
        // Two versions of Agon on one cache each have their own.
        cache.join("index").join(format!("{name}.{VERSION}.sqlite"))
    }

    pub(crate) fn open(path: &Path) -> Result<Self, IndexError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let db = Connection::open(path)?;
        // So that those that nobody opens any more are told apart. Only tidiness fails with it.
        File::options()
            .write(true)
            .open(path)
            .and_then(|file| file.set_modified(now()))
            .ok();
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
            unkept: None,
        })
    }
}

/// Empties a file that is damaged, or is no index at all, without giving its place to another file.
pub(crate) fn reset(path: &Path) -> Result<(), IndexError> {
    let db = Connection::open(path)?;
    db.busy_timeout(PATIENCE)?;
    // SQLite must have looked at the file, whatever it thinks of it.
    db.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
        .ok();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
    let emptied = db.execute_batch("VACUUM");
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    Ok(emptied?)
}

/// Removes indexes that nobody has opened for a long time: most of their runs are gone.
pub(crate) fn sweep(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache.join("index")) else {
        return;
    };
    let now = now();
    for entry in entries.take(MOST_SWEPT).filter_map(Result::ok) {
        let path = entry.path();
        let opened = entry.metadata().and_then(|meta| meta.modified());
        let old = opened.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > OLD));
        if old && path.extension().is_some_and(|end| end == "sqlite") {
            remove(&path);
        }
    }
}

fn now() -> SystemTime {
    SystemTime::from(SystemClock::default().now())
}

/// Removes a file that is no index any more, with what belongs to it.
pub(crate) fn remove(path: &Path) {
    for end in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        fs::remove_file(PathBuf::from(name)).ok();
    }
}
