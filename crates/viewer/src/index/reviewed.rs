//! What people say about trials, in the index: a person is believed before the checks, as in reports.

use agon_core::TaskId;
use agon_core::verdict::Outcome;
use agon_store::{Reviews, standing};
use rusqlite::Connection;

use super::error::IndexError;
use super::schema::{BY_PEOPLE, flag_bit, outcome_of, outcome_state, state_number};
use crate::shape::Flag;

/// What an ended attempt counts as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    pub(crate) state: i64,
    pub(crate) score: Option<f64>,
    pub(crate) flags: i64,
}

impl Counted {
    /// Of an attempt that is its trial's result.
    pub(crate) fn result(checks: Outcome, score: f64, said: Option<Outcome>) -> Self {
        let Some(said) = said else {
            let flags = flag_bit(Flag::Unreviewed);
            return Self {
                flags,
                ..Self::attempt(checks, score)
            };
        };
        let mut flags = flag_bit(Flag::Reviewed);
        // A fault is no opinion.
        if checks != Outcome::Faulted && checks != said {
            flags |= flag_bit(Flag::Disagreed);
        }
        Self {
            state: state_number(outcome_state(said)),
            score: Some(f64::from(u8::from(said == Outcome::Passed))),
            flags,
        }
    }

    /// Of one that was played again: what people said about it decides nothing.
    pub(crate) fn attempt(checks: Outcome, score: f64) -> Self {
        Self {
            state: state_number(outcome_state(checks)),
            score: (checks != Outcome::Faulted).then(|| score.clamp(0.0, 1.0)),
            flags: 0,
        }
    }
}

/// What a person says that a trial came to.
pub(crate) fn said(
    reviews: &Reviews,
    task: &TaskId,
    epoch: u32,
    played_in: u32,
) -> Option<Outcome> {
    standing(reviews.of(task, epoch, played_in))?
        .verdict
        .outcome()
}

/// Brings every result in line with what people say now; returns whether anything changed.
pub(crate) fn apply(db: &Connection, reviews: &Reviews) -> Result<bool, IndexError> {
    let mut changes = Vec::new();
    let mut ask = db.prepare_cached(
        "SELECT r.id, t.task, r.epoch, r.played_in, r.graded, r.graded_score, r.state, r.score,
                r.flags
         FROM row r JOIN task t ON t.place = r.place
         WHERE r.counts = 1 AND r.graded IS NOT NULL",
    )?;
    let mut rows = ask.query([])?;
    while let Some(row) = rows.next()? {
        let task = row.get_ref(1)?.as_str().ok();
        let task = task.and_then(|task| TaskId::parse(task).ok());
        let (Some(task), Some(checks)) = (task, outcome_of(row.get(4)?)) else {
            continue;
        };
        let said = said(reviews, &task, row.get(2)?, row.get(3)?);
        let now = Counted::result(checks, row.get(5)?, said);
        let flags: i64 = row.get(8)?;
        let before = Counted {
            state: row.get(6)?,
            score: row.get(7)?,
            flags: flags & BY_PEOPLE,
        };
        if now != before {
            changes.push((row.get::<_, i64>(0)?, now, (flags & !BY_PEOPLE) | now.flags));
        }
    }
    let mut change =
        db.prepare_cached("UPDATE row SET state = ?, score = ?, flags = ? WHERE id = ?")?;
    for (id, now, flags) in &changes {
        change.execute((now.state, now.score, flags, id))?;
    }
    Ok(!changes.is_empty())
}
