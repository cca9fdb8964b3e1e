//! Which trials are being played: those of `running.jsonl` that have no line yet, as long as somebody
//! writes to the run folder.

use std::collections::HashMap;
use std::io::Read;

use agon_store::{RunFolder, RunningAttempt, open_plain, running};
use rusqlite::{Connection, OptionalExtension};

use super::error::IndexError;
use super::marks::Marks;
use super::open_trials;
use super::schema::{OPEN, state_number};
use crate::shape::State;

/// As much of the file as tells whether it was begun anew: its first line says when.
const HEAD: usize = 256;
/// More attempts than this at once are no run of ours.
const MOST: usize = 10_000;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Underway {
    head: Vec<u8>,
    read: u64,
    /// Without a line when last looked at.
    attempts: Vec<RunningAttempt>,
}

impl Underway {
    /// The attempts without a line, and how many bytes of the file tell of them.
    pub(crate) fn known(&self) -> (&[RunningAttempt], u64) {
        (&self.attempts, self.read)
    }

    /// Brings the rows in line; returns whether any changed.
    pub(crate) fn apply(
        &mut self,
        db: &Connection,
        folder: &RunFolder,
        marks: &Marks,
        epochs: u32,
    ) -> Result<bool, IndexError> {
        self.read_on(folder, marks)?;
        let mut now: HashMap<i64, (i64, u32, u32)> = HashMap::new();
        let mut left = Vec::new();
        for attempt in self.attempts.drain(..) {
            let place = place(db, &attempt, epochs)?;
            if let Some(place) = place
                && !has_line(db, place, &attempt)?
            {
                let id = open_trials::id(place, attempt.epoch, epochs);
                now.insert(id, (place, attempt.epoch, attempt.attempt));
                left.push(attempt);
            }
        }
        left.truncate(MOST);
        self.attempts = left;
        if !marks.live {
            now.clear();
        }
        change(db, &now)
    }

    fn read_on(&mut self, folder: &RunFolder, marks: &Marks) -> Result<(), IndexError> {
        let mut head = Vec::new();
        if let Ok(file) = open_plain(&folder.running_file()) {
            file.take(HEAD as u64)
                .read_to_end(&mut head)
                .map_err(|error| IndexError::Io(error).reading(&folder.running_file()))?;
        }
        let length = marks.running.map_or(0, |mark| mark.length);
        if length < self.read || !head.starts_with(&self.head) {
            *self = Self::default();
        }
        self.head = head;
        let (more, read) = running(folder, self.read)?;
        self.read = read;
        self.attempts.extend(more);
        Ok(())
    }
}

/// Of an attempt at a trial of the plan.
fn place(
    db: &Connection,
    attempt: &RunningAttempt,
    epochs: u32,
) -> Result<Option<i64>, IndexError> {
    if !(1..=epochs).contains(&attempt.epoch) {
        return Ok(None);
    }
    let found = db
        .prepare_cached("SELECT place FROM task WHERE task = ? AND planned = 1")?
        .query_row([attempt.task.to_string()], |row| row.get(0))
        .optional()?;
    Ok(found)
}

fn has_line(db: &Connection, place: i64, attempt: &RunningAttempt) -> Result<bool, IndexError> {
    let found = db
        .prepare_cached(
            "SELECT 1 FROM row WHERE place = ? AND epoch = ? AND attempt >= ? AND id < ?",
        )?
        .exists((place, attempt.epoch, attempt.attempt, OPEN))?;
    Ok(found)
}

/// Makes exactly these rows running; `now` holds place, epoch and attempt by the row's number.
fn change(db: &Connection, now: &HashMap<i64, (i64, u32, u32)>) -> Result<bool, IndexError> {
    let running = state_number(State::Running);
    let mut before = HashMap::new();
    let mut ask =
        db.prepare_cached("SELECT id, place, epoch, attempt FROM row WHERE id >= ? AND state = ?")?;
    let mut rows = ask.query((OPEN, running))?;
    while let Some(row) = rows.next()? {
        before.insert(row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?));
    }
    if before == *now {
        return Ok(false);
    }
    let mut has_result = db.prepare_cached(
        "SELECT 1 FROM row WHERE place = ? AND epoch = ? AND counts = 1 AND id < ?",
    )?;
    let mut put = open_trials::insert(db)?;
    let mut remove = db.prepare_cached("DELETE FROM row WHERE id = ?")?;
    for (id, (place, epoch, _)) in &before {
        if now.contains_key(id) {
            continue;
        }
        if has_result.exists((place, epoch, OPEN))? {
            remove.execute([id])?;
        } else {
            put.execute((id, place, epoch, 0, true, state_number(State::Missing)))?;
        }
    }
    for (id, (place, epoch, attempt)) in now {
        let counts = !has_result.exists((place, epoch, OPEN))?;
        put.execute((id, place, epoch, attempt, counts, running))?;
    }
    Ok(true)
}
