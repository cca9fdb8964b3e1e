//! What the index says about results: counts, and rows of attempts that ended. Asks it only when something
//! was written, and no more often than is cheap.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::error::ViewerError;
use crate::library::Run;
use crate::shape::{State, TrialQuery, TrialRow};

/// The index may be asked again after so many times the work that it took: no more than 2 % of a core.
const REST: u32 = 50;
const LONGEST_REST: Duration = Duration::from_secs(5);
/// After it could not be read.
const RETRY: Duration = Duration::from_secs(1);
/// Rows that are told at once. Where there are more, only the counts are: pages fetch what they show.
const MOST_ROWS: u64 = 50;

#[derive(Debug)]
pub(super) struct Results {
    /// Attempts that are known to have ended; none until it was asked.
    ended: Option<u64>,
    revision: Option<u64>,
    /// Something was written that the index was not asked about.
    due: bool,
    not_before: Instant,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) planned: u64,
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) faulted: u64,
    pub(super) missing: u64,
    pub(super) revision: u64,
}

/// What is new.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    pub(super) rows: Vec<TrialRow>,
    pub(super) counts: Option<Counts>,
}

impl Results {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            ended: None,
            revision: None,
            due: true,
            not_before: now,
        }
    }

    /// When the index is to be asked, if it is.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.then_some(self.not_before)
    }

    pub(super) fn written(&mut self) {
        self.due = true;
    }

    pub(super) fn look(&mut self, run: &Run) -> Fresh {
        let now = Instant::now();
        if !self.due || now < self.not_before {
            return Fresh::default();
        }
        let first = self.ended.is_none();
        let before = worked();
        match self.ask(run) {
            Ok(fresh) => {
                self.due = false;
                // The first time an index may be built, which says nothing about the next time.
                if !first {
                    let took = worked().saturating_sub(before);
                    self.not_before = now + (took * REST).min(LONGEST_REST);
                }
                fresh
            }
            // What was told still holds.
            Err(_) => {
                self.not_before = now + RETRY;
                Fresh::default()
            }
        }
    }

    fn ask(&mut self, run: &Run) -> Result<Fresh, ViewerError> {
        let counts = counts(run, self.revision)?;
        let Some(counts) = counts else {
            return Ok(Fresh::default());
        };
        let from = self.ended.unwrap_or(0);
        let limit = if self.ended.is_some() { MOST_ROWS } else { 0 };
        let page = run.trials(&ended(), from, limit)?;
        let few = page.total.saturating_sub(from) <= MOST_ROWS;
        self.ended = Some(page.total);
        self.revision = Some(counts.revision);
        Ok(Fresh {
            rows: if few { page.rows } else { Vec::new() },
            counts: Some(counts),
        })
    }
}

/// None where nothing has changed since `known`. Without what takes long to find out: that is for pages.
fn counts(run: &Run, known: Option<u64>) -> Result<Option<Counts>, ViewerError> {
    run.with_index(|index| {
        let revision = index.state.revision;
        if known == Some(revision) {
            return Ok(None);
        }
        let found = index.counts()?;
        let planned = index.state.run.planned();
        let ended = found.passed + found.failed + found.faulted;
        Ok(Some(Counts {
            planned,
            passed: found.passed,
            failed: found.failed,
            faulted: found.faulted,
            missing: planned.saturating_sub(ended),
            revision,
        }))
    })
}

/// What this thread has worked so far: time that it waited costs nobody anything.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// All attempts that ended, in the order in which they did.
fn ended() -> TrialQuery {
    TrialQuery {
        outcome: vec![State::Passed, State::Failed, State::Faulted],
        attempts: true,
        ..TrialQuery::default()
    }
}
