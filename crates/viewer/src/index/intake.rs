//! Takes lines of `trials.jsonl` into the index, from where it stopped the last time. A later final line
//! of a trial takes the place of an earlier one, as a process that died in between leaves them.

use std::collections::HashMap;
use std::path::Path;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{Level, TaskId, Usage};
use agon_store::{Manifest, Reviews, TrialLine, played_in};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::error::IndexError;
use super::lines::{LONGEST, for_each_line};
use super::open_trials;
use super::reviewed::{self, Counted, said};
use super::schema::{fault_number, flag_bit, outcome_state, state_number};
use super::state::{LastLine, State};
use crate::shape::Flag;

/// Characters of a text that are kept: the rest stands in the run folder.
const LONGEST_TEXT: usize = 2_000;
/// Names of checks of one line that are taken, and how long each may be.
const MOST_CHECKS: usize = 64;

/// Where a task stands in the plan, and whether it does.
#[derive(Debug, Clone, Copy)]
struct Place {
    number: i64,
    planned: bool,
}

/// Numbers of tasks that were looked up.
#[derive(Debug, Default)]
pub(crate) struct Places {
    known: HashMap<String, Place>,
}

/// The tasks of the plan, in its order.
pub(crate) fn put_tasks(db: &Connection, manifest: &Manifest) -> Result<(), IndexError> {
    let mut insert = insert_task(db)?;
    for (place, stamp) in manifest.tasks.iter().enumerate() {
        let level = stamp
            .level
            .and_then(|level| Level::ALL.iter().position(|known| *known == level));
        put_task(
            &mut insert,
            place as i64,
            &stamp.task,
            &stamp.name,
            level.map(|place| place as i64),
            true,
        )?;
    }
    Ok(())
}

fn insert_task(db: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    // A plan that names a task twice is none of ours; the first one stands.
    db.prepare_cached("INSERT OR IGNORE INTO task VALUES (?, ?, ?, ?, ?, ?, ?)")
}

fn put_task(
    insert: &mut CachedStatement<'_>,
    place: i64,
    task: &TaskId,
    name: &str,
    level: Option<i64>,
    planned: bool,
) -> rusqlite::Result<()> {
    let name = clip(name, LONGEST_TEXT);
    let task_text = task.to_string();
    let words = format!("{task_text}\n{name}").to_lowercase();
    let category = task.category();
    insert.execute(params![
        place, task_text, category, name, level, planned, words
    ])?;
    Ok(())
}

impl Places {
    fn of(&mut self, db: &Connection, task: &TaskId) -> Result<Place, IndexError> {
        let text = task.to_string();
        if let Some(place) = self.known.get(&text) {
            return Ok(*place);
        }
        let found = db
            .prepare_cached("SELECT place, planned FROM task WHERE task = ?")?
            .query_row([&text], |row| {
                Ok(Place {
                    number: row.get(0)?,
                    planned: row.get(1)?,
                })
            })
            .optional()?;
        let place = match found {
            Some(place) => place,
            None => {
                let next = "SELECT coalesce(max(place) + 1, 0) FROM task";
                let number = db.prepare_cached(next)?.query_row([], |row| row.get(0))?;
                put_task(&mut insert_task(db)?, number, task, "", None, false)?;
                Place {
                    number,
                    planned: false,
                }
            }
        };
        self.known.insert(text, place);
        Ok(place)
    }

    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}

/// Reads up to `length`. Returns whether anything was there.
pub(crate) fn take_lines(
    db: &Connection,
    path: &Path,
    length: u64,
    state: &mut State,
    places: &mut Places,
    reviews: &Reviews,
) -> Result<bool, IndexError> {
    let mut next: i64 = db.query_row(
        "SELECT coalesce(max(id) + 1, 1) FROM row WHERE id < ?",
        [super::schema::OPEN],
        |row| row.get(0),
    )?;
    let mut intake = Intake::new(db, state.run.epochs, reviews)?;
    let mut last = None;
    let (from, torn) = (state.taken, state.torn);
    let read = for_each_line(path, from, length, LONGEST, |at, text| {
        last = Some((at, text.map_or(0, <[u8]>::len) as u64));
        let line = text.and_then(|text| serde_json::from_slice::<TrialLine>(text).ok());
        match (text, line) {
            (Some(text), Some(line)) => {
                let place = places.of(db, &line.task)?;
                let stands = Stands {
                    id: next,
                    at,
                    bytes: text.len() as u64,
                };
                next += 1;
                state.strays += u64::from(!intake.take(&line, place, &stands)?);
            }
            _ => {
                if state.unread == 0 {
                    state.first_unread = at;
                }
                state.unread += 1;
            }
        }
        Ok::<(), IndexError>(())
    })
    .map_err(|error| error.reading(path))?;
    if intake.restored {
        reviewed::apply(db, reviews)?;
    }
    state.taken = read.until;
    state.torn = read.torn;
    if let Some((at, bytes)) = last {
        let digest = super::refresh::digest_at(path, at, bytes)?;
        state.last = Some(LastLine { at, bytes, digest });
    }
    Ok(read.until > from || read.torn != torn)
}

/// Where a line is: in the index, and in the file.
struct Stands {
    id: i64,
    at: u64,
    bytes: u64,
}

struct Intake<'a> {
    epochs: u32,
    reviews: &'a Reviews,
    insert: CachedStatement<'a>,
    replaced: CachedStatement<'a>,
    close: CachedStatement<'a>,
    drawn: CachedStatement<'a>,
    plain: CachedStatement<'a>,
    first: CachedStatement<'a>,
    restore: CachedStatement<'a>,
    /// Rows count that did not when they were put in.
    restored: bool,
    failed: CachedStatement<'a>,
}

impl<'a> Intake<'a> {
    fn new(db: &'a Connection, epochs: u32, reviews: &'a Reviews) -> Result<Self, IndexError> {
        Ok(Self {
            epochs,
            reviews,
            insert: db.prepare_cached(
                "INSERT INTO row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?,
            replaced: db.prepare_cached(
                "UPDATE row SET counts = 0, state = graded, flags = flags & ~7,
                    score = iif(graded = 2, NULL, graded_score)
                 WHERE place = ? AND epoch = ? AND counts = 1 AND graded IS NOT NULL",
            )?,
            close: db.prepare_cached("DELETE FROM row WHERE id = ?")?,
            drawn: db.prepare_cached(
                "SELECT count(*) FROM row WHERE place = ? AND epoch = ? AND attempt = ? AND drawn = 1
                    AND regraded = 0",
            )?,
            plain: db.prepare_cached(
                "SELECT count(*) FROM row WHERE place = ? AND epoch = ? AND counts = 1 AND drawn = 0
                    AND graded IS NOT NULL",
            )?,
            first: db.prepare_cached(
                "SELECT min(id) FROM row r WHERE place = ? AND epoch = ? AND graded < 2 AND drawn = 0
                    AND NOT EXISTS (SELECT 1 FROM row d WHERE d.place = r.place AND d.epoch = r.epoch
                        AND d.drawn = 1 AND d.said_final = 1 AND d.id < r.id)",
            )?,
            restore: db.prepare_cached("UPDATE row SET counts = 1 WHERE id = ?")?,
            restored: false,
            failed: db.prepare_cached("INSERT OR IGNORE INTO failed VALUES (?, ?)")?,
        })
    }

    /// Whether it was played after the first verdict, or is such a draw graded again.
    fn is_drawn(&mut self, line: &TrialLine, place: Place) -> Result<bool, IndexError> {
        if !line.regraded || !line.rerun {
            return Ok(line.is_further_draw());
        }
        let of = (place.number, line.epoch, played_in(line));
        Ok(self.drawn.query_row(of, |row| row.get::<_, i64>(0))? > 0)
    }

    /// Of a final draw, as older versions left them: whether there is no verdict before it. Where there is one,
    /// that is the result, whatever it says of itself.
    fn stands_alone(&mut self, line: &TrialLine, place: Place) -> Result<bool, IndexError> {
        let trial = (place.number, line.epoch);
        if self.plain.query_row(trial, |row| row.get::<_, i64>(0))? > 0 {
            return Ok(false);
        }
        let first: Option<i64> = self.first.query_row(trial, |row| row.get(0))?;
        if let Some(first) = first {
            self.restore(first, line, place)?;
        }
        Ok(first.is_none())
    }

    fn restore(&mut self, id: i64, line: &TrialLine, place: Place) -> Result<(), IndexError> {
        self.replaced.execute((place.number, line.epoch))?;
        self.restore.execute([id])?;
        let open = open_trials::id(place.number, line.epoch, self.epochs);
        self.close.execute([open])?;
        self.restored = true;
        Ok(())
    }

    /// Returns whether it is a part of the plan.
    fn take(
        &mut self,
        line: &TrialLine,
        place: Place,
        stands: &Stands,
    ) -> Result<bool, IndexError> {
        let planned = place.planned && (1..=self.epochs).contains(&line.epoch);
        let drawn = self.is_drawn(line, place)?;
        let counts = planned && line.is_final && (!drawn || self.stands_alone(line, place)?);
        if counts {
            self.replaced.execute((place.number, line.epoch))?;
            let open = open_trials::id(place.number, line.epoch, self.epochs);
            self.close.execute([open])?;
        }
        let played_in = played_in(line);
        let counted = if counts {
            let said = said(self.reviews, &line.task, line.epoch, played_in);
            Counted::result(line.outcome, line.score, said)
        } else {
            Counted::attempt(line.outcome, line.score)
        };
        let fault = line.fault.as_ref();
        let fault_text = fault.map(|fault| clip(&fault.message, LONGEST_TEXT));
        let reason = clip(&line.reason, LONGEST_TEXT);
        // What was only graded again has been played, and counted, before; but not its judge.
        let spent = if line.regraded {
            &line.judge
        } else {
            &line.usage
        };
        self.insert.execute(params![
            stands.id,
            place.number,
            line.epoch,
            line.attempt,
            counts,
            counted.state,
            counted.flags | flags(line),
            fault
                .filter(|_| line.outcome == Outcome::Faulted)
                .and_then(|fault| fault_number(fault.class)),
            counted.score,
            line.measured,
            line.steps,
            line.seconds.total(),
            i64::try_from(line.usage.tokens()).unwrap_or(i64::MAX),
            dollars(&line.usage),
            line.at.as_microsecond(),
            state_number(outcome_state(line.outcome)),
            line.score.clamp(0.0, 1.0),
            line.end.map(TurnEnd::name),
            line.seconds.agent,
            line.seconds.environment,
            line.seconds.harness,
            dollars(spent),
            line.regraded,
            played_in,
            stands.at as i64,
            stands.bytes as i64,
            line.is_final,
            reason,
            fault_text,
            line.integrity
                .as_deref()
                .map(|sign| clip(sign, LONGEST_TEXT)),
            words(reason, fault.map(|fault| fault.class.name()), fault_text),
            is_unpriced(&line.usage),
            is_unpriced(spent),
            drawn,
        ])?;
        for name in line.failed_checks.iter().take(MOST_CHECKS) {
            self.failed.execute((clip(name, LONGEST_TEXT), stands.id))?;
        }
        Ok(planned)
    }
}

/// What a search looks through.
fn words(reason: &str, class: Option<&str>, fault: Option<&str>) -> String {
    if reason.is_empty() && class.is_none() {
        return String::new();
    }
    let (class, fault) = (class.unwrap_or_default(), fault.unwrap_or_default());
    format!("{reason}\n{class}: {fault}").to_lowercase()
}

fn dollars(usage: &Usage) -> Option<f64> {
    usage.money.map(|money| money.picos() as f64 / 1e12)
}

/// Something was used that has no known price, as reports see it.
fn is_unpriced(usage: &Usage) -> bool {
    usage.unpriced_calls > 0 || (usage.money.is_none() && !usage.is_empty())
}

fn flags(line: &TrialLine) -> i64 {
    let all = [
        (line.integrity.is_some(), Flag::Integrity),
        (line.tainted, Flag::Tainted),
        (line.retried, Flag::Retried),
        (line.rerun, Flag::Rerun),
        (line.elsewhere, Flag::Elsewhere),
        (line.end == Some(TurnEnd::Operator), Flag::Operator),
    ];
    let held = all.into_iter().filter(|(holds, _)| *holds);
    held.map(|(_, flag)| flag_bit(flag)).sum()
}

/// The first characters.
fn clip(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
