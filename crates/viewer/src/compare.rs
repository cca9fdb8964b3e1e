//! Two or more runs, paired by task: the rows of their indexes, given to the reports' comparison. Knows no
//! figures of its own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agon_core::verdict::Outcome;
use agon_report::{Contender, PlayedTrial};
use agon_store::Manifest;

use crate::error::ViewerError;
use crate::library::{Run, lock};
use crate::shape::{Comparison, State, TrialQuery, TrialRow};

/// Rows that are asked for at once.
const PAGE: u64 = 20_000;

/// The runs of a comparison, each with the number of its state.
type Compared = Vec<(PathBuf, u64)>;

/// The last one: whoever looks at one comes back to it, and asks for its parts.
static LAST: Mutex<Option<(Compared, Arc<Comparison>)>> = Mutex::new(None);

/// The first run is what the others are compared with.
pub(crate) fn compare(runs: &[Arc<Run>]) -> Result<Arc<Comparison>, ViewerError> {
    let state = |run: &Arc<Run>| Ok((run.folder().path().to_owned(), run.refresh()?));
    let now: Compared = runs.iter().map(state).collect::<Result<_, ViewerError>>()?;
    if let Some((known, found)) = &*lock(&LAST)
        && *known == now
    {
        return Ok(Arc::clone(found));
    }
    let found = Arc::new(work_out(runs)?);
    // A run that went on meanwhile has another number when it is asked for again.
    *lock(&LAST) = Some((now, Arc::clone(&found)));
    Ok(found)
}

fn work_out(runs: &[Arc<Run>]) -> Result<Comparison, ViewerError> {
    let manifests = runs
        .iter()
        .map(|run| run.manifest())
        .collect::<Result<Vec<_>, _>>()?;
    let contenders = runs
        .iter()
        .zip(&manifests)
        .map(|(run, manifest)| contender(run, manifest))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Comparison::of(&contenders))
}

fn contender<'m>(run: &Run, manifest: &'m Manifest) -> Result<Contender<'m>, ViewerError> {
    run.refresh()?;
    let mut contender = Contender::new(run.id(), manifest);
    let mut offset = 0;
    loop {
        let page = run.trials(&TrialQuery::default(), offset, PAGE)?;
        for row in &page.rows {
            if let Some(trial) = played(row) {
                contender.add(&trial);
            }
        }
        offset += page.rows.len() as u64;
        if page.rows.is_empty() || offset >= page.total {
            return Ok(contender);
        }
    }
}

/// `None` of a trial without a result.
fn played(row: &TrialRow) -> Option<PlayedTrial<'_>> {
    let outcome = match row.state {
        State::Passed => Outcome::Passed,
        State::Failed => Outcome::Failed,
        State::Faulted => Outcome::Faulted,
        State::Running | State::Missing => return None,
    };
    Some(PlayedTrial {
        task: &row.key.task,
        epoch: row.key.epoch,
        attempt: row.key.attempt,
        outcome,
        score: row.score.unwrap_or(0.0),
        seconds: row.seconds.total(),
        steps: row.steps,
        money: row.money,
        unpriced: row.unpriced,
    })
}
