//! What a run adds up to, for its page: the summary of the report, and how results came in over time.
//! Kept as long as the run does not change; of a run that goes on it may be a little old, because adding
//! up many trials again and again would take a core.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::prediction::ScoredPrediction;
use agon_report::{CaveatKind, Each, Interval, RunReport, Summary, Trials};
use agon_store::{Audit, Manifest, Reviews, RunReader, StoreError, TrialLine};

use crate::error::ViewerError;
use crate::index::{LONGEST, for_each_line, state_of};
use crate::library::{Run, lock, plan};
use crate::shape::{State, Timeline};

/// Of a run that goes on, adding up takes at most one part in this many of a core.
const SHARE: u32 = 50;
/// Points of a timeline: more can't be told apart on a screen.
const POINTS: usize = 500;

#[derive(Debug)]
pub struct Overview {
    pub summary: Summary,
    pub timeline: Timeline,
    /// Trials without a result that are being played.
    pub running: u64,
    /// The state of the run that it is of.
    pub revision: u64,
}

/// The last one, and what it cost.
#[derive(Debug)]
pub(crate) struct Kept {
    overview: Arc<Overview>,
    made: Instant,
    cost: Duration,
}

pub(crate) fn of(run: &Run) -> Result<Arc<Overview>, ViewerError> {
    // Held meanwhile: whoever asks for the same waits for it instead of adding up as well.
    let mut kept = lock(&run.overview);
    let (revision, live) = run.with_index(|index| Ok((index.state.revision, index.is_live())))?;
    if let Some(kept) = &*kept {
        let recent = kept.made.elapsed() < kept.cost.saturating_mul(SHARE);
        if kept.overview.revision == revision || (live && recent) {
            return Ok(Arc::clone(&kept.overview));
        }
    }
    let began = Instant::now();
    let manifest = run.manifest()?;
    let overview = Arc::new(add_up(run, &manifest)?);
    *kept = Some(Kept {
        overview: Arc::clone(&overview),
        made: Instant::now(),
        cost: began.elapsed(),
    });
    Ok(overview)
}

/// What a list of runs says that takes long to find out: the interval of the score, and what must be known before
/// the record is believed. Nothing else of it is kept in memory.
pub(crate) fn slow(run: &Run) -> Result<(Option<Interval>, Vec<String>), ViewerError> {
    let is_live = run.with_index(|index| Ok(index.is_live()))?;
    let summary = |summary: &Summary| (summary.overall.score_ci, doubts(summary));
    if is_live {
        return Ok(summary(&of(run)?.summary));
    }
    Ok(summary(&add_up(run, &plan::read(run.folder())?.0)?.summary))
}

/// Caveats that belong beside a score wherever it stands.
fn doubts(summary: &Summary) -> Vec<String> {
    let is_doubt = |kind| {
        matches!(
            kind,
            CaveatKind::Record | CaveatKind::OddScores | CaveatKind::NeverEnded | CaveatKind::Draws
        )
    };
    let caveats = summary.caveats.iter();
    let told = caveats.filter(|caveat| is_doubt(caveat.kind));
    told.map(|caveat| caveat.text.clone()).collect()
}

fn add_up(run: &Run, manifest: &Manifest) -> Result<Overview, ViewerError> {
    let path = run.folder().trials_file();
    let mut endings = Vec::new();
    let mut running = 0;
    let (lines, revision) = run.with_index(|index| {
        endings = index.endings()?;
        running = index.running()?;
        let lines = Lines {
            path: path.clone(),
            until: index.state.taken,
            replaced: index.replaced()?.into_iter().collect(),
            restored: index.restored()?.into_iter().collect(),
            reviews: Arc::clone(&index.reviews),
            folder: run.folder().path().to_owned(),
            reader: OnceCell::new(),
        };
        Ok((lines, index.state.revision))
    })?;
    let summary = RunReport::new(manifest, &lines)?.summary;
    let (found, told) = (summary.overall.score_ci, doubts(&summary));
    run.with_index(|index| {
        // Where it can't be kept, it is found out again.
        index.keep_slow(revision, found, &told).ok();
        Ok(())
    })?;
    Ok(Overview {
        summary,
        timeline: timeline(&endings, manifest.created.as_microsecond()),
        running,
        revision,
    })
}

/// `endings`: when, in microseconds, and what each came to, in order.
fn timeline(endings: &[(i64, i64)], began: i64) -> Timeline {
    let mut timeline = Timeline::default();
    let (mut passed, mut failed, mut faulted) = (0, 0, 0);
    let every = endings.len().div_ceil(POINTS).max(1);
    for (place, (at, state)) in endings.iter().enumerate() {
        match state_of(*state) {
            State::Passed => passed += 1,
            State::Failed => failed += 1,
            State::Faulted => faulted += 1,
            State::Running | State::Missing => {}
        }
        if (place + 1) % every == 0 || place + 1 == endings.len() {
            let seconds = at.saturating_sub(began).max(0) as f64 / 1e6;
            timeline.t.push(seconds);
            timeline.passed.push(passed);
            timeline.failed.push(failed);
            timeline.faulted.push(faulted);
        }
    }
    timeline
}

/// The lines of a run as far as the index has taken them in: those that can't be read are left out, and
/// those that were replaced are not final, whatever they say.
#[derive(Debug)]
struct Lines {
    path: PathBuf,
    until: u64,
    replaced: HashSet<u64>,
    restored: HashSet<u64>,
    reviews: Arc<Reviews>,
    folder: PathBuf,
    /// For events, where a report needs any.
    reader: OnceCell<Option<RunReader>>,
}

impl Lines {
    fn reader(&self) -> Option<&RunReader> {
        let open = || RunReader::open_newer(&self.folder).ok();
        self.reader.get_or_init(open).as_ref()
    }
}

impl Trials for Lines {
    fn visit(&self, each: &mut Each<'_>) -> Result<(), StoreError> {
        let mut next = ControlFlow::Continue(());
        for_each_line(&self.path, 0, self.until, LONGEST, |at, text| {
            let text = text.filter(|_| next.is_continue());
            let line = text.and_then(|text| serde_json::from_slice::<TrialLine>(text).ok());
            if let Some(mut line) = line {
                line.is_final = match line.is_final {
                    true => !self.replaced.contains(&at),
                    false => self.restored.contains(&at),
                };
                next = each(line);
            }
            Ok::<(), io::Error>(())
        })
        .map(|_| ())
        .map_err(StoreError::io("can't read", &self.path))
    }

    fn reviews(&self) -> Result<Reviews, StoreError> {
        Ok(Reviews::clone(&self.reviews))
    }

    /// What can't be looked at is told by the card of the run.
    fn audit(&self) -> Result<Option<Audit>, StoreError> {
        let found = self.reader().map(RunReader::audit);
        Ok(found.and_then(Result::ok).cloned())
    }

    /// Of a trial whose record is damaged nothing is known; the others are still added up.
    fn prediction(&self, line: &TrialLine) -> Result<Option<ScoredPrediction>, StoreError> {
        let found = self.reader().map(|reader| Trials::prediction(reader, line));
        Ok(found.and_then(Result::ok).flatten())
    }

    fn notes(&self, line: &TrialLine) -> Result<Vec<String>, StoreError> {
        let found = self.reader().map(|reader| Trials::notes(reader, line));
        Ok(found.and_then(Result::ok).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_counts_up_and_has_few_points() {
        let endings: Vec<(i64, i64)> = (0..2_001).map(|n| (1_000_000 * (n + 5), n % 3)).collect();
        let line = timeline(&endings, 5_000_000);
        assert!(line.t.len() <= POINTS + 1);
        assert_eq!(line.t.last(), Some(&2_000.0));
        let last = |counts: &[u64]| counts.last().copied();
        assert_eq!(last(&line.passed), Some(667));
        assert_eq!(last(&line.failed), Some(667));
        assert_eq!(last(&line.faulted), Some(667));
        assert!(line.passed.is_sorted());
        assert_eq!(timeline(&[], 0), Timeline::default());
    }
}
