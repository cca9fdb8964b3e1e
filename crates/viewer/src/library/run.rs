//! One run: its manifest, its index and what is kept of both. Everything that reads may block: call it
//! from a thread that may.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_store::{Locks, Manifest, Reviews, RunFolder, TrialLine, open_plain, read_plain};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::error::ViewerError;
use crate::index::{Index, IndexError, LONGEST, Listed, Mark, Marks, remove, reset};
use crate::library::plan;
use crate::live::Following;
use crate::overview::{Kept, Overview};
use crate::shape::{AttemptCard, RunCard, TrialKey, TrialPage, TrialQuery, TrialRow};

/// As the store has it.
const MOST_OF_A_MANIFEST: u64 = 256 << 20;

#[derive(Debug)]
pub struct Run {
    id: String,
    folder: RunFolder,
    /// Where its index is kept.
    place: PathBuf,
    /// Nobody is told where it is.
    hidden: bool,
    created: Mutex<Option<(Mark, Option<Timestamp>)>>,
    index: Mutex<Option<Index>>,
    manifest: Mutex<Option<(Mark, Arc<Manifest>)>>,
    pub(crate) overview: Mutex<Option<Kept>>,
    pub(super) card: Mutex<Option<(Marks, RunCard)>>,
    /// What was seen of it as it goes on.
    pub(crate) following: Mutex<Option<Following>>,
}

/// What a list of runs is sorted by.
#[derive(Deserialize)]
struct Written {
    created: Timestamp,
}

impl Run {
    pub(super) fn new(id: String, path: PathBuf, cache: &Path) -> Self {
        let folder = RunFolder::at(path);
        let place = Index::place(cache, &folder);
        Self::of(id, folder, place)
    }

    fn of(id: String, folder: RunFolder, place: PathBuf) -> Self {
        Self {
            id,
            place,
            folder,
            hidden: false,
            created: Mutex::default(),
            index: Mutex::default(),
            manifest: Mutex::default(),
            overview: Mutex::default(),
            card: Mutex::default(),
            following: Mutex::default(),
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
        let path = self.folder.manifest_file();
        let mark = Mark::of(&path)?;
        let mut kept = lock(&self.created);
        if let Some((known, created)) = *kept
            && known == mark
        {
            return created;
        }
        let written = read_plain(&path, MOST_OF_A_MANIFEST).ok();
        let written = written.and_then(|text| serde_json::from_slice::<Written>(&text).ok());
        let changed = || {
            let changed = fs::symlink_metadata(&path).ok()?.modified().ok()?;
            Timestamp::try_from(changed).ok()
        };
        let created = written.map(|written| written.created).or_else(changed);
        *kept = Some((mark, created));
        created
    }

    /// Why nothing of it can be shown, as far as that is seen without taking it in.
    pub fn trouble(&self) -> Option<String> {
        let manifest = self.folder.manifest_file();
        let text = match read_plain(&manifest, MOST_OF_A_MANIFEST) {
            Ok(text) => text,
            Err(error) => return Some(format!("{}: {error}", manifest.display())),
        };
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(&text) {
            return Some(format!("{}: {error}", manifest.display()));
        }
        let trials = self.folder.trials_file();
        match open_plain(&trials) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Some(format!("{}: {error}", trials.display()))
            }
            _ => None,
        }
    }

    /// The same run, which tells nobody where it is.
    pub(crate) fn shared(&self) -> Self {
        Self {
            hidden: true,
            ..Self::of(self.id.clone(), self.folder.clone(), self.place.clone())
        }
    }

    /// What is said about it, with names of files as they are in its folder where nobody is to know where
    /// that is.
    pub(crate) fn told(&self, text: String) -> String {
        if !self.hidden {
            return text;
        }
        let kept = self.place.parent().unwrap_or(&self.place);
        let real = fs::canonicalize(self.folder.path()).unwrap_or_default();
        let mut text = text;
        for place in [self.folder.path(), &real, kept] {
            let place = place.display().to_string();
            if !place.is_empty() {
                text = text.replace(&format!("{place}/"), "");
                text = text.replace(&place, &self.id);
            }
        }
        text
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.hidden
    }

    pub fn manifest(&self) -> Result<Arc<Manifest>, ViewerError> {
        let mark = Mark::of(&self.folder.manifest_file());
        let mut kept = lock(&self.manifest);
        if let (Some((known, manifest)), Some(mark)) = (&*kept, mark)
            && *known == mark
        {
            return Ok(Arc::clone(manifest));
        }
        let manifest = Arc::new(plan::read(&self.folder)?.0);
        *kept = mark.map(|mark| (mark, Arc::clone(&manifest)));
        Ok(manifest)
    }

    /// Never fails: what can't be read is told in the card.
    pub fn card(&self) -> RunCard {
        super::card::card(self, &Locks::now())
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

    /// The next trial in a list that counts and that nobody has reviewed.
    pub(crate) fn next_unreviewed(
        &self,
        query: &TrialQuery,
        after: Option<&TrialKey>,
    ) -> Result<Option<TrialKey>, ViewerError> {
        self.with_index(|index| index.next_unreviewed(query, after))
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
            let mut text = vec![0; (at.bytes as usize).min(LONGEST)];
            open_plain(&path)?.read_exact_at(&mut text, at.at)?;
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
                Err(error) if error.is_damage() => self.anew().map_err(failed)?,
                Err(_) => Index::in_memory().map_err(failed)?,
            }),
        };
        let mut up_to_date = |index: &mut Index| {
            index.refresh(&self.folder)?;
            index.in_one(&mut work)
        };
        let error = match up_to_date(index) {
            Err(error) if error.is_damage() => {
                *held = None;
                let index = held.insert(self.anew().map_err(failed)?);
                match up_to_date(index) {
                    Err(error) if error.is_damage() || error.is_no_room() => error,
                    done => return done.map_err(failed),
                }
            }
            Err(error) if error.is_no_room() => error,
            done => return done.map_err(failed),
        };
        *held = None;
        let mut index = Index::in_memory().map_err(failed)?;
        index.unkept = Some(format!(
            "the index of the run can't be kept, and is made again with every start: {}",
            failed(error)
        ));
        up_to_date(held.insert(index)).map_err(failed)
    }

    /// An empty index in the place of one that is damaged. The file stays the same where that can be:
    /// another viewer may have it open.
    fn anew(&self) -> Result<Index, IndexError> {
        if reset(&self.place).is_err() {
            remove(&self.place);
        }
        Index::open(&self.place).or_else(|_| Index::in_memory())
    }

    /// Whether the index is open already.
    pub(super) fn is_open(&self) -> bool {
        lock(&self.index).is_some()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
