//! Two or more runs, paired by task: the rows of their indexes, given to the reports' comparison. Knows no
//! figures of its own. What was worked out is kept: a page asks for its list part by part.

mod list;
mod query;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::Digest;
use agon_core::verdict::Outcome;
use agon_report::{Contender, PlayedTrial};
use agon_store::Manifest;

use crate::error::ViewerError;
use crate::library::{Run, lock};
use crate::shape::{Comparison, State, TrialQuery, TrialRow};

pub(crate) use list::{page, searchable};
pub(crate) use query::task_query;

/// Rows that are asked for at once.
const PAGE: u64 = 20_000;
/// Comparisons that are kept: as many as somebody goes back and forth between.
const MOST_KEPT: usize = 4;
/// Of runs that go on, working it out again and again takes at most one part in this many of a core.
const SHARE: u32 = 50;

/// A run as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    id: String,
    path: PathBuf,
    revision: u64,
    manifest: Option<Digest>,
    /// Bytes of results and of reviews.
    taken: u64,
    reviews: u64,
}

#[derive(Debug)]
struct Kept {
    of: Vec<Version>,
    found: Arc<Comparison>,
    made: Instant,
    cost: Duration,
}

/// Used last comes last.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// The first run is what the others are compared with. Of runs that go on it may be a little old.
pub(crate) fn compare(runs: &[Arc<Run>]) -> Result<Arc<Comparison>, ViewerError> {
    // Whatever takes long to read is read here, while others are still answered from what is kept.
    let now = runs.iter().map(|run| version(run));
    let now: Vec<(Version, bool)> = now.collect::<Result<_, _>>()?;
    let live = now.iter().any(|(_, live)| *live);
    let now: Vec<Version> = now.into_iter().map(|(version, _)| version).collect();
    // Held meanwhile: whoever asks for the same waits for it instead of working it out as well.
    let mut kept = lock(&KEPT);
    let place = kept.iter().position(|one| are_same_runs(&one.of, &now));
    if let Some(one) = place.and_then(|place| kept.remove(place)) {
        let recent = one.made.elapsed() < one.cost.saturating_mul(SHARE);
        if one.of == now || (live && recent) {
            let found = Arc::clone(&one.found);
            kept.push_back(one);
            return Ok(found);
        }
    }
    let began = Instant::now();
    let found = Arc::new(work_out(runs)?);
    if kept.len() == MOST_KEPT {
        kept.pop_front();
    }
    // A run that went on meanwhile is another version when it is asked for again.
    kept.push_back(Kept {
        of: now,
        found: Arc::clone(&found),
        made: Instant::now(),
        cost: began.elapsed(),
    });
    Ok(found)
}

/// In whatever state.
fn are_same_runs(some: &[Version], others: &[Version]) -> bool {
    let same = |(one, other): (&Version, &Version)| one.id == other.id && one.path == other.path;
    some.len() == others.len() && some.iter().zip(others).all(same)
}

/// And whether it goes on.
fn version(run: &Run) -> Result<(Version, bool), ViewerError> {
    run.with_index(|index| {
        let state = &index.state;
        let version = Version {
            id: run.id().to_owned(),
            path: run.folder().path().to_owned(),
            revision: state.revision,
            manifest: state.manifest,
            taken: state.taken,
            reviews: state.reviews,
        };
        Ok((version, index.is_live()))
    })
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
        steps: row.steps.unwrap_or(0),
        money: row.money,
        unpriced: row.unpriced,
    })
}

#[cfg(test)]
mod tests {
    use agon_store::{Review, ReviewVerdict};

    use super::*;
    use crate::library::Library;

    #[test]
    fn it_is_worked_out_once_until_something_changes() {
        let root = tempfile::tempdir().unwrap();
        for (luck, name) in ["one", "two", "three"].into_iter().enumerate() {
            let path = root.path().join(name);
            agon_testkit::many_trials(&path, 20, name, luck as u64).unwrap();
        }
        let library = Library::new(vec![root.path().into()], root.path().join(".cache")).unwrap();
        let runs = |names: [&str; 2]| names.map(|name| library.run(name).unwrap());
        let (pair, other) = (runs(["one", "two"]), runs(["one", "three"]));
        let first = compare(&pair).unwrap();
        let second = compare(&other).unwrap();
        assert_ne!(first.runs, second.runs);
        assert!(Arc::ptr_eq(&first, &compare(&pair).unwrap()));
        assert!(Arc::ptr_eq(&second, &compare(&other).unwrap()));
        // Another order is another comparison.
        let turned = compare(&runs(["two", "one"])).unwrap();
        assert_eq!(turned.runs[0].id, "two");

        let reviewed = &pair[1];
        let query = TrialQuery {
            outcome: vec![State::Passed],
            ..TrialQuery::default()
        };
        let key = reviewed.trials(&query, 0, 1).unwrap().rows.remove(0).key;
        let line = reviewed.line(&key).unwrap().unwrap();
        let review = Review::of(&line, ReviewVerdict::Fail, "", "Ada", line.at);
        review.append(reviewed.folder()).unwrap();
        let after = compare(&pair).unwrap();
        assert_ne!(first.tasks, after.tasks);
        assert!(Arc::ptr_eq(&second, &compare(&other).unwrap()));
    }

    #[test]
    fn only_a_few_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..=MOST_KEPT + 1).map(|n| format!("run-{n}")).collect();
        for name in &names {
            agon_testkit::many_trials(&root.path().join(name), 3, name, 1).unwrap();
        }
        let library = Library::new(vec![root.path().into()], root.path().join(".cache")).unwrap();
        let first = library.run(&names[0]).unwrap();
        for name in &names[1..] {
            compare(&[Arc::clone(&first), library.run(name).unwrap()]).unwrap();
        }
        assert!(lock(&KEPT).len() <= MOST_KEPT);
    }
}
