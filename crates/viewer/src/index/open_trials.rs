//! Planned trials without a result: rows of their own, so that one list shows them all.

use std::collections::HashSet;

use rusqlite::Connection;

use super::error::IndexError;
use super::schema::{OPEN, state_number};
use super::state::RunStamp;
use crate::shape::State;

/// More than these are only counted: a plan may promise any number.
const MOST: u64 = 1_000_000;

/// The row of a trial without a result.
pub(crate) fn id(place: i64, epoch: u32, epochs: u32) -> i64 {
    let before = place.saturating_mul(i64::from(epochs));
    let within = i64::from(epoch).saturating_sub(1);
    OPEN.saturating_add(before).saturating_add(within)
}

/// Makes a row for each planned trial that has no result; returns how many were too many.
pub(crate) fn put(db: &Connection, run: &RunStamp) -> Result<u64, IndexError> {
    let mut done = HashSet::new();
    let mut ask = db.prepare("SELECT place, epoch FROM row WHERE counts = 1")?;
    let mut rows = ask.query([])?;
    while let Some(row) = rows.next()? {
        done.insert((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?));
    }
    let mut places = db.prepare("SELECT place FROM task WHERE planned = 1 ORDER BY place")?;
    let places: Vec<i64> = places
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let left = run.planned().saturating_sub(done.len() as u64);
    let mut insert = insert(db)?;
    let mut made = 0;
    'all: for place in places {
        for epoch in 1..=run.epochs {
            if done.contains(&(place, epoch)) {
                continue;
            }
            if made == MOST {
                break 'all;
            }
            made += 1;
            let state = state_number(State::Missing);
            let id = id(place, epoch, run.epochs);
            insert.execute((id, place, epoch, 0, true, state))?;
        }
    }
    Ok(left.saturating_sub(made))
}

/// Takes: id, place, epoch, attempt, whether it counts, state.
pub(crate) fn insert(db: &Connection) -> rusqlite::Result<rusqlite::CachedStatement<'_>> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO row (id, place, epoch, attempt, counts, state, flags)
         VALUES (?, ?, ?, ?, ?, ?, 0)",
    )
}
