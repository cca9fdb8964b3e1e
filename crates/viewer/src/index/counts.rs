//! What the rows of a run add up to, for a list of runs.

use agon_report::Interval;
use jiff::Timestamp;

use super::error::IndexError;
use super::file::Index;
use super::schema::{OPEN, flag_bit, state_number};
use super::state::KeptInterval;
use crate::shape::{Flag, State};

/// Names of checks that are told.
const MOST_NAMES: u32 = 1_000;

/// What takes long to find out: the interval of the score, and what is told beside it.
pub(crate) type SlowFindings = (Option<Interval>, Vec<String>);

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) faulted: u64,
    pub(crate) reviewed: u64,
    /// Sum of the scores of graded trials.
    pub(crate) score: f64,
    pub(crate) money: Option<f64>,
    /// Something of it has no known price.
    pub(crate) unpriced: bool,
    pub(crate) seconds: f64,
    pub(crate) last: Option<Timestamp>,
}

impl Index {
    pub(crate) fn counts(&self) -> Result<Counts, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT coalesce(sum(counts AND state = ?1), 0), coalesce(sum(counts AND state = ?2), 0),
                    coalesce(sum(counts AND state = ?3), 0),
                    coalesce(sum(counts AND state <> ?3 AND flags & ?4 <> 0), 0),
                    total(iif(counts, score, 0)), sum(iif(t.planned, spent, NULL)),
                    total(iif(t.planned AND NOT regraded, seconds, 0)), max(ended),
                    coalesce(max(t.planned AND spent_unpriced), 0)
             FROM row r JOIN task t ON t.place = r.place WHERE r.id < ?5",
        )?;
        let states = [State::Passed, State::Failed, State::Faulted].map(state_number);
        let [passed, failed, faulted] = states;
        let reviewed = flag_bit(Flag::Reviewed);
        let counts = ask.query_row((passed, failed, faulted, reviewed, OPEN), |row| {
            let count = |place| row.get::<_, i64>(place).map(i64::unsigned_abs);
            let last: Option<i64> = row.get(7)?;
            Ok(Counts {
                passed: count(0)?,
                failed: count(1)?,
                faulted: count(2)?,
                reviewed: count(3)?,
                score: row.get(4)?,
                money: row.get(5)?,
                unpriced: row.get(8)?,
                seconds: row.get(6)?,
                last: last.and_then(|at| Timestamp::from_microsecond(at).ok()),
            })
        })?;
        Ok(counts)
    }

    /// Names of checks that did not pass in trials as they count, most frequent first.
    pub(crate) fn failed_checks(&self) -> Result<Vec<(String, u64)>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT f.name, count(*) FROM failed f JOIN row r ON r.id = f.row
             WHERE r.counts = 1 GROUP BY f.name ORDER BY 2 DESC, 1 LIMIT ?",
        )?;
        let found = ask.query_map([MOST_NAMES], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// When every trial with a result ended, in microseconds, and what it came to, in that order. One that
    /// was graded again ended when it was played.
    pub(crate) fn endings(&self) -> Result<Vec<(i64, i64)>, IndexError> {
        let mut ask = self.db.prepare_cached(
            "SELECT iif(r.regraded, coalesce((SELECT min(p.ended) FROM row p
                        WHERE p.place = r.place AND p.epoch = r.epoch AND p.attempt = r.played_in
                            AND p.id < r.id), r.ended), r.ended) AS played, r.state
             FROM row r WHERE r.counts = 1 AND r.id < ? ORDER BY played, r.id",
        )?;
        let found = ask.query_map([OPEN], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Trials without a result that are being played.
    pub(crate) fn running(&self) -> Result<u64, IndexError> {
        let running = state_number(State::Running);
        let found = self
            .db
            .prepare_cached("SELECT count(*) FROM row WHERE counts = 1 AND state = ? AND id >= ?")?
            .query_row((running, OPEN), |row| row.get::<_, i64>(0))?;
        Ok(found.unsigned_abs())
    }

    /// The interval of the score and what is to be told beside it; `None`: it was not found out for this state
    /// of the run.
    pub(crate) fn slow(&self) -> Result<Option<SlowFindings>, IndexError> {
        let kept = KeptInterval::load(&self.db, self.state.revision)?;
        Ok(kept.and_then(|kept| Some((kept.interval()?, kept.told))))
    }

    /// Keeps what took long to find out, of the run as it was at a revision.
    pub(crate) fn keep_slow(
        &self,
        revision: u64,
        found: Option<Interval>,
        told: &[String],
    ) -> Result<(), IndexError> {
        KeptInterval::of(revision, found, told).save(&self.db)
    }
}
