//! Rows of the index as they are shown, and where the lines behind them are.

use std::sync::Arc;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{Level, TimeSplit};
use agon_store::{Review, standing};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as BadWord, StrDeserializer};

use super::error::IndexError;
use super::file::Index;
use super::schema::{FAULTS, FLAGS, OPEN, flag_bit, outcome_of, state_of};
use crate::shape::{AttemptCard, Flag, State, TrialKey, TrialPage, TrialQuery, TrialRow};

/// Characters of a reason in a table.
const LONGEST_WHY: usize = 300;

/// Where a line is in `trials.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineAt {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

impl Index {
    fn find(&mut self, query: &TrialQuery) -> Result<Arc<[i64]>, IndexError> {
        self.lists.find(&self.db, self.state.revision, query)
    }

    pub(crate) fn page(
        &mut self,
        query: &TrialQuery,
        offset: u64,
        limit: u64,
    ) -> Result<TrialPage, IndexError> {
        let found = self.find(query)?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let rows = found.iter().skip(from).take(limit);
        let rows = rows.filter_map(|id| self.row(*id).transpose());
        Ok(TrialPage {
            total: found.len() as u64,
            offset,
            rows: rows.collect::<Result<_, _>>()?,
            revision: self.state.revision,
        })
    }

    /// The rows before and after one in a list.
    pub(crate) fn neighbours(
        &mut self,
        query: &TrialQuery,
        of: &TrialKey,
    ) -> Result<(Option<TrialKey>, Option<TrialKey>), IndexError> {
        let found = self.find(query)?;
        let ids = self.ids(of)?;
        let Some(place) = found.iter().position(|id| ids.contains(id)) else {
            return Ok((None, None));
        };
        let key = |place: Option<usize>| match place.and_then(|place| found.get(place)) {
            Some(id) => self.key(*id),
            None => Ok(None),
        };
        Ok((key(place.checked_sub(1))?, key(place.checked_add(1))?))
    }

    /// The rows of an attempt: one, unless a file says the same twice.
    pub(super) fn ids(&self, key: &TrialKey) -> Result<Vec<i64>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT r.id FROM row r JOIN task t ON t.place = r.place
             WHERE t.task = ? AND r.epoch = ? AND r.attempt = ?",
        )?;
        let ids = ask.query_map((&key.task, key.epoch, key.attempt), |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    pub(super) fn key(&self, id: i64) -> Result<Option<TrialKey>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT t.task, r.epoch, r.attempt FROM row r JOIN task t ON t.place = r.place
             WHERE r.id = ?",
        )?;
        Ok(ask
            .query_row([id], |row| {
                Ok(TrialKey {
                    task: row.get(0)?,
                    epoch: row.get(1)?,
                    attempt: row.get(2)?,
                })
            })
            .optional()?)
    }

    /// The row of an attempt; with attempt 0 that of a trial, as it counts.
    pub(crate) fn row_of(&self, key: &TrialKey) -> Result<Option<TrialRow>, IndexError> {
        let id = if key.attempt == 0 {
            self.db
                .prepare_cached(
                    "SELECT r.id FROM row r JOIN task t ON t.place = r.place
                     WHERE t.task = ? AND r.epoch = ? AND r.counts = 1",
                )?
                .query_row((&key.task, key.epoch), |row| row.get(0))
                .optional()?
        } else {
            self.ids(key)?.into_iter().max()
        };
        match id {
            Some(id) => self.row(id),
            None => Ok(None),
        }
    }

    pub(super) fn row(&self, id: i64) -> Result<Option<TrialRow>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT t.task, r.epoch, r.attempt, t.name, t.level, r.state, r.graded, r.score,
                    iif(r.state = 2, NULL, r.measured), r.turn_end, r.steps, r.agent,
                    r.environment, r.harness, r.tokens, r.money, r.flags, r.ended, r.reason,
                    r.fault, r.fault_text, r.integrity, r.played_in, r.counts,
                    r.unpriced
             FROM row r JOIN task t ON t.place = r.place WHERE r.id = ?",
        )?;
        let found = ask.query_row([id], |row| self.shown(row)).optional()?;
        Ok(found)
    }

    fn shown(&self, row: &Row<'_>) -> rusqlite::Result<TrialRow> {
        let key = TrialKey {
            task: row.get(0)?,
            epoch: row.get(1)?,
            attempt: row.get(2)?,
        };
        let state = state_of(row.get(5)?);
        let graded = row.get::<_, Option<i64>>(6)?.and_then(outcome_of);
        let flags: i64 = row.get(16)?;
        let reviewed = flags & flag_bit(Flag::Reviewed) != 0;
        let review = match reviewed {
            true => self.review(&key, row.get(22)?),
            false => None,
        };
        let level: Option<u8> = row.get(4)?;
        let level = level.and_then(|place| Level::ALL.get(usize::from(place)));
        Ok(TrialRow {
            name: row.get(3)?,
            level: level.map(|level| level.name().to_owned()),
            state,
            checks: graded.filter(|_| reviewed && graded != says(state)),
            score: row.get(7)?,
            measured: row.get(8)?,
            end: row.get_ref(9)?.as_str_or_null()?.and_then(turn_end),
            steps: row.get(10)?,
            seconds: TimeSplit {
                agent: row.get::<_, Option<f64>>(11)?.unwrap_or(0.0),
                environment: row.get::<_, Option<f64>>(12)?.unwrap_or(0.0),
                harness: row.get::<_, Option<f64>>(13)?.unwrap_or(0.0),
            },
            tokens: u64::try_from(row.get::<_, Option<i64>>(14)?.unwrap_or(0)).unwrap_or(0),
            money: row.get(15)?,
            unpriced: row.get::<_, Option<bool>>(24)?.unwrap_or(false),
            flags: FLAGS
                .into_iter()
                // It is a thing to look for, not one to show on nearly every row.
                .filter(|flag| flags & flag_bit(*flag) != 0 && *flag != Flag::Unreviewed)
                .collect(),
            why: why(row, state, graded, review)?,
            at: row
                .get::<_, Option<i64>>(17)?
                .and_then(|at| Timestamp::from_microsecond(at).ok()),
            key,
        })
    }

    fn review(&self, key: &TrialKey, played_in: u32) -> Option<&Review> {
        let task = agon_core::TaskId::parse(&key.task).ok()?;
        standing(self.reviews.of(&task, key.epoch, played_in))
    }

    /// The last line of an attempt, and whether it is its trial's result.
    pub(crate) fn line_at(&self, key: &TrialKey) -> Result<Option<(LineAt, bool)>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT r.at, r.bytes, r.counts FROM row r JOIN task t ON t.place = r.place
             WHERE t.task = ? AND r.epoch = ? AND r.attempt = ? AND r.id < ?
             ORDER BY r.id DESC LIMIT 1",
        )?;
        let found = ask.query_row((&key.task, key.epoch, key.attempt, OPEN), |row| {
            let (at, bytes): (i64, i64) = (row.get(0)?, row.get(1)?);
            let line = LineAt {
                at: at.unsigned_abs(),
                bytes: bytes.unsigned_abs(),
            };
            Ok((line, row.get(2)?))
        });
        Ok(found.optional()?)
    }

    pub(crate) fn attempts(&self, task: &str, epoch: u32) -> Result<Vec<AttemptCard>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT r.attempt, r.graded, r.counts, r.regraded
             FROM row r JOIN task t ON t.place = r.place
             WHERE t.task = ? AND r.epoch = ? AND r.id < ? ORDER BY r.attempt, r.id",
        )?;
        let found = ask.query_map((task, epoch, OPEN), |row| {
            Ok(AttemptCard {
                attempt: row.get(0)?,
                outcome: row.get::<_, Option<i64>>(1)?.and_then(outcome_of),
                is_final: row.get(2)?,
                regraded: row.get(3)?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Lines that call themselves final and were replaced: a process died before it took that back.
    pub(crate) fn replaced(&self) -> Result<Vec<u64>, IndexError> {
        self.marked_otherwise(true)
    }

    /// Where lines begin that count though they do not say so.
    pub(crate) fn restored(&self) -> Result<Vec<u64>, IndexError> {
        self.marked_otherwise(false)
    }

    fn marked_otherwise(&self, said_final: bool) -> Result<Vec<u64>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT r.at FROM row r JOIN task t ON t.place = r.place
             WHERE r.said_final = ?1 AND r.counts = NOT ?1 AND t.planned = 1",
        )?;
        let found = ask.query_map([said_final], |row| {
            row.get::<_, i64>(0).map(i64::unsigned_abs)
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

fn says(state: State) -> Option<Outcome> {
    match state {
        State::Passed => Some(Outcome::Passed),
        State::Failed => Some(Outcome::Failed),
        State::Faulted => Some(Outcome::Faulted),
        State::Running | State::Missing => None,
    }
}

fn turn_end(name: &str) -> Option<TurnEnd> {
    let word: StrDeserializer<'_, BadWord> = name.into_deserializer();
    TurnEnd::deserialize(word).ok()
}

/// Why it did not pass, in the words of a report.
fn why(
    row: &Row<'_>,
    state: State,
    graded: Option<Outcome>,
    review: Option<&Review>,
) -> rusqlite::Result<String> {
    let text = |place: usize| -> rusqlite::Result<&str> {
        Ok(row.get_ref(place)?.as_str_or_null()?.unwrap_or_default())
    };
    let cause = match graded {
        None if state == State::Missing => return Ok("no result yet".to_owned()),
        Some(Outcome::Faulted) => {
            let class: Option<u8> = row.get(19)?;
            match class.and_then(|place| FAULTS.get(usize::from(place))) {
                Some(class) => format!("{class}: {}", text(20)?),
                None => "no fault was recorded".to_owned(),
            }
        }
        _ => text(18)?.to_owned(),
    };
    let said = review.map(|review| {
        let who = match review.reviewer.as_str() {
            "" => "a person",
            name => name,
        };
        let outcome = says(state).map_or("", Outcome::name);
        match review.comment.as_str() {
            "" => format!("{outcome}, says {who}"),
            comment => format!("{outcome}, says {who}: {comment}"),
        }
    });
    let sign = text(21)?;
    let sign = (!sign.is_empty()).then(|| format!("tampering: {sign}"));
    let cause = match (&said, cause.is_empty()) {
        (_, true) => None,
        (Some(_), false) => Some(format!("checks: {cause}")),
        (None, false) => Some(cause),
    };
    let parts: Vec<String> = [said, cause, sign].into_iter().flatten().collect();
    Ok(parts.join("; ").chars().take(LONGEST_WHY).collect())
}
