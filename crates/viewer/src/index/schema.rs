//! The tables of an index, and how words of ours are written as numbers in them.

use agon_core::FaultClass;
use agon_core::verdict::Outcome;
use rusqlite::Connection;

use crate::shape::{Flag, State};

/// Another one than in a file: the file is built again.
pub(crate) const VERSION: i64 = 3;

/// Rows of trials without a result come after those of all lines, in the order of the plan.
pub(crate) const OPEN: i64 = 1 << 40;

/// Rows are numbered as their lines come. `counts`: it is what its trial came to. `state`, `score` and
/// the flags are as they count; `graded` and `graded_score` are what the checks say. `drawn`: it was played after
/// the first verdict.
const TABLES: &str = "
    CREATE TABLE state (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE task (
        place INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE, category TEXT NOT NULL,
        name TEXT NOT NULL, level INTEGER, planned INTEGER NOT NULL, words TEXT NOT NULL);
    CREATE TABLE row (
        id INTEGER PRIMARY KEY, place INTEGER NOT NULL, epoch INTEGER NOT NULL,
        attempt INTEGER NOT NULL, counts INTEGER NOT NULL, state INTEGER NOT NULL,
        flags INTEGER NOT NULL, fault INTEGER, score REAL, measured REAL, steps INTEGER,
        seconds REAL, tokens INTEGER, money REAL, ended INTEGER, graded INTEGER,
        graded_score REAL, turn_end TEXT, agent REAL, environment REAL, harness REAL,
        spent REAL, regraded INTEGER, played_in INTEGER, at INTEGER, bytes INTEGER,
        said_final INTEGER, reason TEXT, fault_text TEXT, integrity TEXT, words TEXT,
        unpriced INTEGER, spent_unpriced INTEGER, drawn INTEGER);
    CREATE INDEX row_trial ON row (place, epoch);
    CREATE TABLE failed (name TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (name, row))
        WITHOUT ROWID;
";

/// Whether the tables are there as this version makes them.
pub(crate) fn fits(db: &Connection) -> rusqlite::Result<bool> {
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(version == VERSION)
}

/// Empty tables, whatever was there. Within a transaction of the caller's.
pub(crate) fn make(db: &Connection) -> rusqlite::Result<()> {
    let old: Vec<String> = db
        .prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for name in old {
        let name = name.replace('"', "\"\"");
        db.execute_batch(&format!("DROP TABLE \"{name}\""))?;
    }
    db.execute_batch(TABLES)?;
    db.pragma_update(None, "user_version", VERSION)
}

const STATES: [State; 5] = [
    State::Passed,
    State::Failed,
    State::Faulted,
    State::Running,
    State::Missing,
];

pub(crate) fn state_number(state: State) -> i64 {
    match state {
        State::Passed => 0,
        State::Failed => 1,
        State::Faulted => 2,
        State::Running => 3,
        State::Missing => 4,
    }
}

pub(crate) fn state_of(number: i64) -> State {
    let place = usize::try_from(number).unwrap_or(usize::MAX);
    STATES.get(place).copied().unwrap_or(State::Missing)
}

pub(crate) fn outcome_state(outcome: Outcome) -> State {
    match outcome {
        Outcome::Passed => State::Passed,
        Outcome::Failed => State::Failed,
        Outcome::Faulted => State::Faulted,
    }
}

/// `None` of a trial without a result.
pub(crate) fn outcome_of(number: i64) -> Option<Outcome> {
    match state_of(number) {
        State::Passed => Some(Outcome::Passed),
        State::Failed => Some(Outcome::Failed),
        State::Faulted => Some(Outcome::Faulted),
        State::Running | State::Missing => None,
    }
}

pub(crate) const FLAGS: [Flag; 9] = [
    Flag::Reviewed,
    Flag::Unreviewed,
    Flag::Disagreed,
    Flag::Integrity,
    Flag::Tainted,
    Flag::Retried,
    Flag::Rerun,
    Flag::Elsewhere,
    Flag::Operator,
];

/// The bit that stands for a flag.
pub(crate) fn flag_bit(flag: Flag) -> i64 {
    match flag {
        Flag::Reviewed => 1,
        Flag::Unreviewed => 2,
        Flag::Disagreed => 4,
        Flag::Integrity => 8,
        Flag::Tainted => 16,
        Flag::Retried => 32,
        Flag::Rerun => 64,
        Flag::Elsewhere => 128,
        Flag::Operator => 256,
    }
}

/// What people decide.
pub(crate) const BY_PEOPLE: i64 = 7;

/// Every class of faults; their places are their numbers.
pub(crate) const FAULTS: [FaultClass; 12] = [
    FaultClass::Start,
    FaultClass::Setup,
    FaultClass::Environment,
    FaultClass::AgentUnreachable,
    FaultClass::Model,
    FaultClass::ModelSetup,
    FaultClass::Check,
    FaultClass::NeedsJudge,
    FaultClass::Judge,
    FaultClass::Evidence,
    FaultClass::Timeout,
    FaultClass::Internal,
];

pub(crate) fn fault_number(class: FaultClass) -> Option<i64> {
    let place = FAULTS.iter().position(|known| *known == class)?;
    i64::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_comes_back_from_its_number() {
        for state in STATES {
            assert_eq!(state_of(state_number(state)), state);
        }
        let bits: i64 = FLAGS.into_iter().map(flag_bit).sum();
        assert_eq!(bits, (1 << FLAGS.len()) - 1);
        assert_eq!(
            BY_PEOPLE,
            flag_bit(Flag::Reviewed) + flag_bit(Flag::Unreviewed) + flag_bit(Flag::Disagreed)
        );
    }
}
