//! A run in a list of runs, from the counts of its index.

use agon_store::stored::FORMAT;
use agon_store::{Locks, StoreError};

use crate::error::ViewerError;
use crate::index::{Counts, Marks, State};
use crate::overview;
use crate::shape::{RunCard, RunState};

use super::run::{Run, lock};

/// What can't be read is told in it.
pub(super) fn card(run: &Run, locks: &Locks) -> RunCard {
    let marks = Marks::of(run.folder(), locks);
    if let Some((known, card)) = &*lock(&run.card)
        && *known == marks
    {
        return card.clone();
    }
    match counted(run, &marks) {
        Ok(card) => {
            *lock(&run.card) = Some((marks, card.clone()));
            card
        }
        Err(error) => {
            let card = RunCard {
                state: RunState::Broken,
                created: run.created(),
                problems: vec![run.told(error.to_string())],
                ..bare(run)
            };
            // A manifest that can't be read is not read again before it changes.
            if matches!(
                error,
                ViewerError::Store(StoreError::Broken { .. } | StoreError::Newer { .. })
            ) {
                *lock(&run.card) = Some((marks, card.clone()));
            }
            card
        }
    }
}

fn bare(run: &Run) -> RunCard {
    RunCard {
        id: run.id().to_owned(),
        path: match run.is_hidden() {
            true => String::new(),
            false => run.folder().path().display().to_string(),
        },
        state: RunState::Broken,
        suites: Vec::new(),
        agent: String::new(),
        models: Vec::new(),
        judge: None,
        created: None,
        last: None,
        planned: 0,
        passed: 0,
        failed: 0,
        faulted: 0,
        missing: 0,
        score: None,
        score_ci: None,
        score_floor: 0.0,
        coverage: 0.0,
        money: None,
        unpriced: false,
        seconds: 0.0,
        reviewed: 0,
        problems: Vec::new(),
    }
}

fn counted(run: &Run, marks: &Marks) -> Result<RunCard, ViewerError> {
    // A list of a thousand runs must not leave a thousand files open.
    let was_open = run.is_open();
    let (counts, state, unread, slow, unkept) = run.with_index(|index| {
        let (counts, slow) = (index.counts()?, index.slow()?);
        let unread = index.reviews.unread();
        let unkept = index.unkept.clone();
        Ok((counts, index.state.clone(), unread, slow, unkept))
    })?;
    let (score_ci, doubts) = match slow {
        Some(found) => found,
        None => overview::slow(run)?,
    };
    if !was_open && !marks.live {
        run.close();
    }
    let planned = state.run.planned();
    let graded = counts.passed + counts.failed;
    let missing = planned.saturating_sub(graded + counts.faulted);
    let share = |part: f64, whole: u64| if whole > 0 { part / whole as f64 } else { 0.0 };
    Ok(RunCard {
        state: match (marks.live, missing) {
            (true, _) => RunState::Live,
            (false, 0) => RunState::Complete,
            (false, _) => RunState::Stopped,
        },
        last: counts.last,
        planned,
        passed: counts.passed,
        failed: counts.failed,
        faulted: counts.faulted,
        missing,
        score: (graded > 0).then(|| counts.score / graded as f64),
        score_ci,
        score_floor: share(counts.score, planned),
        coverage: share(graded as f64, planned),
        money: counts.money,
        unpriced: counts.unpriced,
        seconds: counts.seconds,
        reviewed: counts.reviewed,
        problems: problems(&state, &counts, marks, unread)
            .into_iter()
            .chain(unkept)
            .chain(doubts)
            .map(|problem| run.told(problem))
            .collect(),
        suites: state.run.suites,
        agent: state.run.agent,
        models: state.run.models,
        judge: state.run.judge,
        created: state.run.created,
        ..bare(run)
    })
}

fn problems(state: &State, counts: &Counts, marks: &Marks, unread_reviews: u64) -> Vec<String> {
    let mut told = Vec::new();
    if state.run.format > FORMAT {
        told.push(format!(
            "a newer agon wrote this run (format {}, known up to {FORMAT}): what is new in it is not shown",
            state.run.format
        ));
    }
    if state.run.twice > 0 {
        told.push(format!(
            "run.json names tasks twice: {} left out, the first one stands",
            state.run.twice
        ));
    }
    if marks.trials.is_none() && counts.last.is_none() && !marks.live {
        told.push("trials.jsonl is not there: no attempt has ended".to_owned());
    }
    if state.unread > 0 {
        told.push(format!(
            "{} can't be read and left out, the first at byte {}",
            lines(state.unread, "trials.jsonl"),
            state.first_unread
        ));
    }
    // Of a run that goes on it may be a line that is being written.
    if state.torn && !marks.live {
        told.push("the last line of trials.jsonl is torn: its attempt never counted".to_owned());
    }
    if state.strays > 0 {
        let lines = lines(state.strays, "trials.jsonl");
        told.push(format!("{lines} tell of trials that are not in the plan"));
    }
    if unread_reviews > 0 {
        let lines = lines(unread_reviews, "reviews.jsonl");
        told.push(format!("{lines} can't be read and left out"));
    }
    if state.unlisted > 0 {
        told.push(format!(
            "{} more planned trials without a result are not listed",
            state.unlisted
        ));
    }
    told
}

fn lines(count: u64, file: &str) -> String {
    let word = if count == 1 { "line" } else { "lines" };
    format!("{count} {word} of {file}")
}
