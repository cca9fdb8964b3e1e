//! Brings an index in line with its run folder: takes in what was appended, or everything anew where
//! what was taken in before does not stand there any more.

use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use agon_core::Digest;
use agon_core::digest::Hasher;
use agon_store::{Locks, Reviews, RunFolder, StoreError, open_plain};

use super::error::IndexError;
use super::file::Index;
use super::intake::{put_tasks, take_lines};
use super::marks::{Mark, Marks};
use super::open_trials;
use super::reviewed;
use super::schema;
use super::state::{RunStamp, State};
use crate::library::plan;

/// How a final line says so, and what becomes of it when another one takes its place.
const FINAL: &[u8] = b"\"final\":true ";
const NOT_FINAL: &[u8] = b"\"final\":false";

/// No manifest of ours is larger; more than that is not even looked at.
const MOST_OF_A_MANIFEST: u64 = 256 << 20;

impl Index {
    /// Returns the revision.
    pub(crate) fn refresh(&mut self, folder: &RunFolder) -> Result<u64, IndexError> {
        let marks = Marks::of(folder, &Locks::now());
        if self.marks == Some(marks) {
            return Ok(self.state.revision);
        }
        self.db.execute_batch("BEGIN IMMEDIATE")?;
        let taken = self.take_in(folder, &marks);
        let ended = match &taken {
            Ok(_) => self.db.execute_batch("COMMIT"),
            Err(_) => self.db.execute_batch("ROLLBACK"),
        };
        match taken.and_then(|state| ended.map(|()| state).map_err(IndexError::from)) {
            Ok(state) => {
                self.state = state;
                self.marks = Some(marks);
                Ok(self.state.revision)
            }
            Err(error) => {
                // Nothing is known for sure any more; the next one begins with the file.
                self.marks = None;
                self.reviews_mark = None;
                self.places.clear();
                self.underway = Default::default();
                Err(error)
            }
        }
    }

    /// A process writes to the run folder.
    pub(crate) fn is_live(&self) -> bool {
        self.marks.is_some_and(|marks| marks.live)
    }

    /// Within a transaction; another viewer may have worked on the same file since.
    fn take_in(&mut self, folder: &RunFolder, marks: &Marks) -> Result<State, IndexError> {
        let db = &self.db;
        let fits = schema::fits(db)?;
        let kept = if fits { State::load(db)? } else { None };
        let before = kept.clone().unwrap_or_default();
        let path = folder.trials_file();
        if self.reviews_mark != marks.reviews || self.marks.is_none() {
            self.reviews = Arc::new(Reviews::read(folder)?);
            self.reviews_mark = marks.reviews;
        }
        let manifest = if self.marks.is_some_and(|m| m.manifest == marks.manifest) {
            before.manifest
        } else {
            Some(manifest_digest(folder)?)
        };
        let goes_on = kept.is_some()
            && before.manifest == manifest
            && manifest.is_some()
            && goes_on(&before, marks.trials, &path);
        let mut state = if goes_on {
            before.clone()
        } else {
            let (manifest, twice) = plan::read(folder)?;
            schema::make(db)?;
            put_tasks(db, &manifest)?;
            self.places.clear();
            State {
                revision: before.revision.max(self.state.revision),
                manifest: Some(manifest_digest(folder)?),
                run: RunStamp::of(&manifest, twice),
                ..State::default()
            }
        };
        state.inode = marks.trials.map_or(0, |mark| mark.inode);
        let length = marks.trials.map_or(0, |mark| mark.length);
        let mut changed = take_lines(
            db,
            &path,
            length,
            &mut state,
            &mut self.places,
            &self.reviews,
        )?;
        if !goes_on {
            state.unlisted = open_trials::put(db, &state.run)?;
            changed = true;
        }
        let reviews = marks.reviews.map_or(0, |mark| mark.length);
        if goes_on && reviews != state.reviews {
            reviewed::apply(db, &self.reviews)?;
            // Also what counts as nothing: comments are shown.
            changed = true;
        }
        state.reviews = reviews;
        let epochs = state.run.epochs;
        changed |= self.underway.apply(db, folder, marks, epochs)?;
        changed |= self.marks.is_some_and(|m| m.live != marks.live);
        if changed {
            state.revision = state.revision.max(self.state.revision) + 1;
        }
        if state != before {
            state.save(db)?;
        }
        Ok(state)
    }
}

fn manifest_digest(folder: &RunFolder) -> Result<Digest, IndexError> {
    let path = folder.manifest_file();
    let hashed = || -> std::io::Result<Digest> {
        let mut hasher = Hasher::default();
        let mut block = vec![0; 1 << 16];
        let mut file = open_plain(&path)?.take(MOST_OF_A_MANIFEST);
        loop {
            match file.read(&mut block)? {
                0 => return Ok(hasher.finish()),
                read => hasher.update(&block[..read]),
            }
        }
    };
    match hashed() {
        Ok(digest) => Ok(digest),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(StoreError::NotARun(folder.path().to_owned()).into())
        }
        Err(error) => Err(IndexError::Io(error).reading(&path)),
    }
}

/// Whether everything that was taken in still stands where it stood.
fn goes_on(state: &State, trials: Option<Mark>, path: &Path) -> bool {
    let Some(last) = &state.last else {
        return state.taken == 0;
    };
    trials.is_some_and(|mark| mark.inode == state.inode && mark.length >= state.taken)
        && digest_at(path, last.at, last.bytes).is_ok_and(|found| found == last.digest)
}

/// Of a line, whether or not it is still final.
pub(crate) fn digest_at(path: &Path, at: u64, bytes: u64) -> Result<Digest, IndexError> {
    let read = || {
        let mut line = vec![0; bytes as usize];
        open_plain(path)?.read_exact_at(&mut line, at)?;
        Ok(line)
    };
    let mut line = read().map_err(|error| IndexError::Io(error).reading(path))?;
    if let Some(found) = line.windows(FINAL.len()).position(|part| part == FINAL) {
        line[found..found + FINAL.len()].copy_from_slice(NOT_FINAL);
    }
    Ok(Digest::of(&line))
}
