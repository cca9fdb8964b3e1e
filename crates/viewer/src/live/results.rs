//! What the index says about results: counts, and rows of attempts that ended. Asks it only when something
//! was written, and no more often than is cheap.

use std::time::{Duration, Instant};

use agon_store::RunFolder;
use rustix::time::{ClockId, clock_gettime};

use super::tail::{News, Tail};
use crate::library::Run;
use crate::shape::{RunCard, State, TrialKey, TrialQuery, TrialRow};

/// The index may be asked again after so many times the work that it took: no more than 2 % of a core.
const REST: u32 = 50;
const LONGEST_REST: Duration = Duration::from_secs(5);
/// Rows that are told at once. Where there are more, only the counts are: pages fetch what they show.
const MOST_ROWS: u64 = 50;

#[derive(Debug)]
pub(super) struct Results {
    reviews: Tail,
    counts: Option<Counts>,
    /// Attempts that are known to have ended.
    ended: u64,
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
    pub(super) reviewed: Vec<TrialKey>,
    pub(super) changed: bool,
}

impl Results {
    pub(super) fn new(folder: &RunFolder, now: Instant) -> Self {
        Self {
            reviews: Tail::of(folder.reviews_file()),
            counts: None,
            ended: 0,
            revision: None,
            due: true,
            not_before: now,
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts.unwrap_or_default()
    }

    /// When the index is to be asked, if it is.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.then_some(self.not_before)
    }

    /// `written`: lines were added to `trials.jsonl`.
    pub(super) fn look(&mut self, run: &Run, written: bool) -> Fresh {
        let mut fresh = Fresh::default();
        let first = self.counts.is_none();
        if self.reviews.look() != News::Nothing {
            fresh.changed = true;
            let reviewed = &mut fresh.reviewed;
            let each = |line: &[u8]| reviewed.extend(serde_json::from_slice::<TrialKey>(line).ok());
            self.due |= self.reviews.read(each).is_ok();
            if first {
                fresh.reviewed.clear();
            }
        }
        self.due |= written;
        let now = Instant::now();
        if self.due && now >= self.not_before {
            let before = worked();
            fresh.rows = self.ask(run, first);
            // The first time an index may be built, which says nothing about the next time.
            if !first {
                let took = worked().saturating_sub(before);
                self.not_before = now + (took * REST).min(LONGEST_REST);
            }
        }
        fresh
    }

    fn ask(&mut self, run: &Run, first: bool) -> Vec<TrialRow> {
        // What can't be read now is read when something is written again.
        self.due = false;
        let revision = run.refresh().unwrap_or(0);
        if self.revision == Some(revision) {
            return Vec::new();
        }
        self.revision = Some(revision);
        let rows = if first {
            self.ended = count(run);
            Vec::new()
        } else {
            self.fresh_rows(run)
        };
        self.counts = Some(Counts::of(&run.card(), revision));
        rows
    }

    fn fresh_rows(&mut self, run: &Run) -> Vec<TrialRow> {
        let Ok(page) = run.trials(&ended(), self.ended, MOST_ROWS) else {
            return Vec::new();
        };
        let fresh = page.total.saturating_sub(self.ended);
        self.ended = page.total;
        if fresh > MOST_ROWS {
            return Vec::new();
        }
        page.rows
    }
}

/// What this thread has worked so far: time that it waited costs nobody anything.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn count(run: &Run) -> u64 {
    run.trials(&ended(), 0, 0).map_or(0, |page| page.total)
}

/// All attempts that ended, in the order in which they did.
fn ended() -> TrialQuery {
    TrialQuery {
        outcome: vec![State::Passed, State::Failed, State::Faulted],
        attempts: true,
        ..TrialQuery::default()
    }
}

impl Counts {
    fn of(card: &RunCard, revision: u64) -> Self {
        Self {
            planned: card.planned,
            passed: card.passed,
            failed: card.failed,
            faulted: card.faulted,
            missing: card.missing,
            revision,
        }
    }
}
