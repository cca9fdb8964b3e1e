//! The runs that can be looked at: those that were named, and those below folders that were named.
//! Gives each a short name for addresses, and opens its index when it is first asked for.

mod card;
pub(crate) mod plan;
mod run;
mod scan;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_store::Locks;

use crate::error::ViewerError;
use crate::index::sweep;
use crate::shape::RunCard;

pub use run::Run;
pub(crate) use run::lock;
pub(crate) use scan::is_run;

/// Runs whose indexes stay open at the same time.
const MOST_OPEN: usize = 32;
/// Characters of a name in an address.
const LONGEST_ID: usize = 100;
/// Looking for runs that takes longer than this is not done again for a while, only because somebody asks
/// for one that is not there: they wait, and all who do share the next look.
const SLOW: Duration = Duration::from_millis(50);
const REST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Library {
    roots: Vec<PathBuf>,
    /// Where indexes and thumbnails are kept: outside of the run folders.
    cache: PathBuf,
    shelf: Mutex<Shelf>,
    /// The last look for runs. Held meanwhile: what an earlier one found never takes the place of what a later
    /// one did.
    looked: Mutex<Option<Looked>>,
    /// Somebody has looked.
    again: Condvar,
}

#[derive(Debug, Clone, Copy)]
struct Looked {
    began: Instant,
    ended: Instant,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Shelf {
    /// By where they really are.
    runs: HashMap<PathBuf, Arc<Run>>,
    ids: HashMap<String, Arc<Run>>,
    /// Asked for last comes last.
    recent: VecDeque<Arc<Run>>,
}

impl Library {
    pub fn new(roots: Vec<PathBuf>, cache: PathBuf) -> Result<Self, ViewerError> {
        for root in &roots {
            if !root.is_dir() {
                return Err(ViewerError::NotFound(format!(
                    "{} is no folder: name a run folder, or a folder with runs in it",
                    root.display()
                )));
            }
        }
        sweep(&cache);
        Ok(Self {
            roots,
            cache,
            shelf: Mutex::default(),
            looked: Mutex::default(),
            again: Condvar::new(),
        })
    }

    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Every run, newest first; looks for new ones.
    pub fn runs(&self) -> Result<Vec<Arc<Run>>, ViewerError> {
        self.look(Instant::now(), lock(&self.looked));
        let mut runs: Vec<Arc<Run>> = self.shelf().runs.values().cloned().collect();
        runs.sort_by_cached_key(|run| (std::cmp::Reverse(run.created()), run.id().to_owned()));
        Ok(runs)
    }

    pub fn run(&self, id: &str) -> Result<Arc<Run>, ViewerError> {
        if let Some(run) = self.shelf().take(id) {
            return Ok(run);
        }
        // It may have begun since.
        self.look_in_vain();
        self.shelf()
            .take(id)
            .ok_or_else(|| ViewerError::NotFound(format!("there is no run {id}")))
    }

    /// What all of them say of themselves, newest first. What the system tells of locks is asked once.
    pub fn cards(&self) -> Result<Vec<RunCard>, ViewerError> {
        let runs = self.runs()?;
        let locks = Locks::now();
        Ok(runs.iter().map(|run| card::card(run, &locks)).collect())
    }

    /// Looks for new runs, unless somebody has since `asked`. Nobody else waits for it but those who do the same.
    fn look(&self, asked: Instant, mut looked: MutexGuard<'_, Option<Looked>>) {
        if looked.is_some_and(|last| last.began >= asked) {
            return;
        }
        let began = Instant::now();
        let found = scan::runs(&self.roots);
        self.shelf().keep(found, &self.cache);
        let ended = Instant::now();
        *looked = Some(Looked { began, ended });
        self.again.notify_all();
    }

    /// The same for whoever asks for a run that nobody knows.
    fn look_in_vain(&self) {
        let asked = Instant::now();
        let mut looked = lock(&self.looked);
        while let Some(last) = *looked
            && last.began < asked
            && !last.rest().is_zero()
        {
            let waited = self.again.wait_timeout(looked, last.rest());
            looked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.look(asked, looked);
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Looked {
    /// How long nobody looks again in vain.
    fn rest(&self) -> Duration {
        match self.ended - self.began > SLOW {
            true => REST.saturating_sub(self.ended.elapsed()),
            false => Duration::ZERO,
        }
    }
}

impl Shelf {
    /// Takes up what is new and lets go of what is gone.
    fn keep(&mut self, found: Vec<scan::Found>, cache: &Path) {
        let there: HashSet<&PathBuf> = found.iter().map(|found| &found.real).collect();
        self.runs.retain(|real, _| there.contains(real));
        let runs = &self.runs;
        let stays = |run: &Arc<Run>| runs.values().any(|known| Arc::ptr_eq(known, run));
        self.recent.retain(stays);
        if self.ids.len() != runs.len() {
            self.ids = runs
                .values()
                .map(|run| (run.id().to_owned(), Arc::clone(run)))
                .collect();
        }
        for found in found {
            if !self.runs.contains_key(&found.real) {
                let id = self.free_id(&found);
                let run = Arc::new(Run::new(id.clone(), found.path, cache));
                self.ids.insert(id, Arc::clone(&run));
                self.runs.insert(found.real, run);
            }
        }
    }

    fn free_id(&self, found: &scan::Found) -> String {
        let name = found.real.file_name().unwrap_or_default();
        let id = url_safe(&name.to_string_lossy());
        let mut free = id.clone();
        let mut count = 1;
        while self.ids.contains_key(&free) {
            count += 1;
            free = format!("{id}~{count}");
        }
        free
    }

    fn take(&mut self, id: &str) -> Option<Arc<Run>> {
        let run = Arc::clone(self.ids.get(id)?);
        self.recent.retain(|known| !Arc::ptr_eq(known, &run));
        self.recent.push_back(Arc::clone(&run));
        if self.recent.len() > MOST_OPEN
            && let Some(oldest) = self.recent.pop_front()
        {
            oldest.close();
        }
        Some(run)
    }
}

/// A folder's name as a part of an address that needs no escapes.
fn url_safe(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
            c
        } else {
            '-'
        }
    };
    let safe: String = name.chars().take(LONGEST_ID).map(plain).collect();
    if safe.trim_matches(['.', '-']).is_empty() {
        "run".to_owned()
    } else if safe.starts_with('.') {
        format!("run{safe}")
    } else {
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_plain() {
        assert_eq!(url_safe("20261115-demo_1.b"), "20261115-demo_1.b");
        assert_eq!(url_safe("a b/ü?\u{202e}#%"), "a-b------");
        assert_eq!(url_safe(".."), "run");
        assert_eq!(url_safe("???"), "run");
        assert_eq!(url_safe(".hidden"), "run.hidden");
        assert_eq!(url_safe(&"x".repeat(500)).len(), LONGEST_ID);
    }

    /// It began after a look that took long, because the machine was busy.
    #[test]
    fn a_run_that_is_new_is_found_also_right_after_a_slow_look() {
        let root = tempfile::tempdir().unwrap();
        let library = Library::new(vec![root.path().into()], root.path().join(".cache")).unwrap();
        let ended = Instant::now();
        let began = ended.checked_sub(2 * SLOW).unwrap();
        *lock(&library.looked) = Some(Looked { began, ended });
        let run = root.path().join("new");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("run.json"), "{}").unwrap();
        assert_eq!(library.run("new").unwrap().id(), "new");
        assert!(library.run("other").is_err());
    }
}
