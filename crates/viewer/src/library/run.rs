//! One run: its manifest, its index and what is kept of both. Everything that reads may block: call it
//! from a thread that may.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agon_store::{Manifest, Reviews, RunFolder, TrialLine};
use jiff::Timestamp;
use serde::Deserialize;

use crate::error::ViewerError;
use crate::index::{Index, IndexError, Listed, Mark, Marks, remove};
use crate::overview::{Kept, Overview};
use crate::shape::{AttemptCard, RunCard, TrialKey, TrialPage, TrialQuery, TrialRow};

#[derive(Debug)]
pub struct Run {
    id: String,
    folder: RunFolder,
    /// Where its index is kept.
    place: PathBuf,
    created: OnceLock<Timestamp>,
    index: Mutex<Option<Index>>,
    manifest: Mutex<Option<(Mark, Arc<Manifest>)>>,
    pub(crate) overview: Mutex<Option<Kept>>,
    pub(super) card: Mutex<Option<(Marks, RunCard)>>,
}

/// What a list of runs is sorted by.
#[derive(Deserialize)]
struct Written {
    created: Timestamp,
}

impl Run {
    pub(super) fn new(id: String, path: PathBuf, cache: &Path) -> Self {
        let folder = RunFolder::at(path);
        Self {
            id,
            place: Index::place(cache, &folder),
            folder,
            created: OnceLock::new(),
            index: Mutex::default(),
            manifest: Mutex::default(),
            overview: Mutex::default(),
            card: Mutex::default(),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// When it began; of one whose manifest can't be read, when that was written.
    pub(super) fn created(&self) -> Option<Timestamp> {
        if let Some(known) = self.created.get() {
            return Some(*known);
        }
        let path = self.folder.manifest_file();
        let written = fs::read(&path).ok();
        let written = written.and_then(|text| serde_json::from_slice::<Written>(&text).ok());
        match written {
            Some(Written { created }) => Some(*self.created.get_or_init(|| created)),
            None => {
                let changed = fs::metadata(&path).ok()?.modified().ok()?;
                Timestamp::try_from(changed).ok()
            }
        }
    }

    pub fn manifest(&self) -> Result<Arc<Manifest>, ViewerError> {
        let mark = Mark::of(&self.folder.manifest_file());
        let mut kept = lock(&self.manifest);
        if let (Some((known, manifest)), Some(mark)) = (&*kept, mark)
            && *known == mark
        {
            return Ok(Arc::clone(manifest));
        }
        let manifest = Arc::new(self.folder.read_manifest()?);
        *kept = mark.map(|mark| (mark, Arc::clone(&manifest)));
        Ok(manifest)
    }

    /// Never fails: what can't be read is told in the card.
    pub fn card(&self) -> RunCard {
        super::card::card(self)
    }

    /// What it adds up to; recomputed when it has changed, but never more often than is cheap.
    pub fn overview(&self) -> Result<Arc<Overview>, ViewerError> {
        crate::overview::of(self)
    }

    /// Takes in what was written since; returns a number that rises whenever that was anything.
    pub fn refresh(&self) -> Result<u64, ViewerError> {
        self.with_index(|index| Ok(index.state.revision))
    }

    pub fn trials(
        &self,
        query: &TrialQuery,
        offset: u64,
        limit: u64,
    ) -> Result<TrialPage, ViewerError> {
        self.with_index(|index| index.page(query, offset, limit))
    }

    /// Every attempt and every trial without one, with what filters know of them.
    pub(crate) fn whole(&self) -> Result<Vec<Listed>, ViewerError> {
        self.with_index(|index| index.whole())
    }

    /// The trials before and after one in a list; none where it is not in it.
    pub fn neighbours(
        &self,
        query: &TrialQuery,
        of: &TrialKey,
    ) -> Result<(Option<TrialKey>, Option<TrialKey>), ViewerError> {
        self.with_index(|index| index.neighbours(query, of))
    }

    /// An attempt as a list shows it; with attempt 0 the trial as it counts.
    pub fn row(&self, key: &TrialKey) -> Result<Option<TrialRow>, ViewerError> {
        self.with_index(|index| index.row_of(key))
    }

    /// The line of an ended attempt, read from the run folder. It is final if it is what its trial
    /// came to.
    pub fn line(&self, key: &TrialKey) -> Result<Option<TrialLine>, ViewerError> {
        let Some((at, counts)) = self.with_index(|index| index.line_at(key))? else {
            return Ok(None);
        };
        let path = self.folder.trials_file();
        let read = || {
            let mut text = vec![0; at.bytes as usize];
            File::open(&path)?.read_exact_at(&mut text, at.at)?;
            Ok(text)
        };
        let text = read().map_err(ViewerError::io("can't read", &path))?;
        let line: Option<TrialLine> = serde_json::from_slice(&text).ok();
        let fits = |line: &TrialLine| {
            line.epoch == key.epoch
                && line.attempt == key.attempt
                && line.task.to_string() == key.task
        };
        match line.filter(fits) {
            Some(line) => Ok(Some(TrialLine {
                is_final: counts,
                ..line
            })),
            None => Err(ViewerError::Internal(format!(
                "{} changed while it was read: try again",
                path.display()
            ))),
        }
    }

    /// All ended attempts at a trial, in order.
    pub fn attempts(&self, task: &str, epoch: u32) -> Result<Vec<AttemptCard>, ViewerError> {
        self.with_index(|index| index.attempts(task, epoch))
    }

    /// Names of checks that did not pass anywhere, most frequent first, with counts.
    pub fn failed_checks(&self) -> Result<Vec<(String, u64)>, ViewerError> {
        self.with_index(|index| index.failed_checks())
    }

    /// Everything that people said about its trials.
    pub fn reviews(&self) -> Result<Arc<Reviews>, ViewerError> {
        self.with_index(|index| Ok(Arc::clone(&index.reviews)))
    }

    /// Lets go of the index until it is needed again; not while somebody uses it.
    pub(super) fn close(&self) {
        if let Ok(mut index) = self.index.try_lock() {
            *index = None;
        }
    }

    /// With the index as the run folder is now. One that is damaged is built again; where there is no
    /// place for a file, it is kept in memory.
    pub(crate) fn with_index<T>(
        &self,
        mut work: impl FnMut(&mut Index) -> Result<T, IndexError>,
    ) -> Result<T, ViewerError> {
        let mut held = lock(&self.index);
        let failed = |error: IndexError| error.at(&self.place);
        let index = match &mut *held {
            Some(index) => index,
            None => held.insert(match Index::open(&self.place) {
                Ok(index) => index,
                Err(_) => Index::in_memory().map_err(failed)?,
            }),
        };
        let mut up_to_date = |index: &mut Index| {
            index.refresh(&self.folder)?;
            index.in_one(&mut work)
        };
        match up_to_date(index) {
            Err(error) if error.is_damage() => {
                *held = None;
                remove(&self.place);
                let index = Index::open(&self.place).or_else(|_| Index::in_memory());
                let index = held.insert(index.map_err(failed)?);
                up_to_date(index).map_err(failed)
            }
            done => done.map_err(failed),
        }
    }

    /// Whether the index is open already.
    pub(super) fn is_open(&self) -> bool {
        lock(&self.index).is_some()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
