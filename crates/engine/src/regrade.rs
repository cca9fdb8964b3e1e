//! Grades recorded trials again without playing them: from their events and their frozen working
//! folder. The old lines stay in the record, the new ones become final.

use std::collections::HashMap;
use std::sync::Arc;

use agon_core::event::Phase;
use agon_core::verdict::{Outcome, TurnEnd, Verdict};
use agon_core::{
    CutOff, EnvironmentKind, Event, EventBody, Fault, FaultClass, RanCommand, Source, Task,
};
use agon_grade::{Bench, Desk, Evidence, FlowStep, Place, Told};
use agon_sandbox::WorkArchive;
use agon_store::{Recorder, RunReader, StoreError, TrialLine};
use agon_suite::Plan;
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::attempt::{evidence_lost, reason};
use crate::dispatch::RunEnd;
use crate::error::RunError;
use crate::grading::{fresh_place, in_used_container, judged};
use crate::hand_in;
use crate::models::Models;
use crate::pictures::Kept as Pictures;
use crate::seen::Seen;
use crate::select::{keys, mend};
use crate::table::Table;
use crate::trial::{looks_at_screen, request};
use crate::unchecked::screen_gone;

/// Which trials are graded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regraded {
    All,
    /// Those for which only a judge was missing.
    Unjudged,
}

impl Regraded {
    fn takes(self, line: &TrialLine) -> bool {
        let unjudged = |fault: &Fault| fault.class.unjudged();
        line.is_final && (self == Self::All || line.fault.as_ref().is_some_and(unjudged))
    }
}

/// Grades final trials of the plan again, `workers` at a time. A trial whose evidence is not there any
/// more keeps the verdict it has.
pub async fn regrade(
    table: &Arc<Table>,
    reader: &RunReader,
    plan: &Plan,
    which: Regraded,
    workers: usize,
    stop: &CancellationToken,
) -> Result<RunEnd, RunError> {
    let by_name: HashMap<String, &Arc<Task>> = plan
        .tasks()
        .iter()
        .map(|task| (task.id.to_string(), task))
        .collect();
    let progress = mend(&table.writer)?;
    let keys = keys(plan);
    let mut lines = reader.trials()?;
    lines.retain(|line| which.takes(line));
    let finals = lines.len();
    lines.retain(|line| {
        by_name
            .get(&line.task.to_string())
            .is_some_and(|task| has_evidence(task, line))
    });
    let left_out = finals - lines.len();
    if left_out > 0 {
        let note = "keep their verdicts: they were not played to an end, or what they left is gone";
        table.watch.note(&format!("{left_out} trials {note}"));
    }
    if which == Regraded::All {
        table.watch.planned(lines.len() as u64, left_out as u64);
    } else if !lines.is_empty() {
        let note = "waited for a judge and are graded from their record";
        table.watch.note(&format!("{} trials {note}", lines.len()));
    }
    let mut graded = stream::iter(lines)
        .map(|line| {
            let task = Arc::clone(by_name[&line.task.to_string()]);
            async move { (grade_again(table, reader, &task, &line).await, line) }
        })
        .buffer_unordered(workers.max(1));
    let mut kept = 0;
    loop {
        let (result, old) = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(RunEnd::Interrupted),
            next = graded.next() => match next {
                Some(next) => next,
                None => break,
            },
        };
        let latest = progress.of(&old.task.to_string(), old.epoch);
        let attempt = latest.map_or(old.attempt, |latest| latest.attempt) + 1;
        let mut line = new_line(table, &old, attempt, result)?;
        line.key = keys.get(&old.task).copied().unwrap_or(line.key);
        kept += u64::from(!line.is_final);
        let replaced = latest.and_then(|latest| latest.final_at);
        let write = || -> std::io::Result<()> {
            table.writer.append_trial(&line)?;
            match replaced {
                Some(at) if line.is_final => table.writer.withdraw(at),
                _ => Ok(()),
            }
        };
        write().map_err(|source| unwritten(table, source))?;
        table.watch.ended(&line);
    }
    table
        .writer
        .flush()
        .map_err(|source| unwritten(table, source))?;
    Ok(if kept == 0 {
        RunEnd::Complete
    } else {
        RunEnd::Ungraded(kept)
    })
}

/// Whether what the trial left behind can still be looked at in the way it was: the agent had its
/// turn, and its working folder was kept. Of what only the used container showed, there is what commands
/// have printed.
fn has_evidence(task: &Task, line: &TrialLine) -> bool {
    let played = line.end.is_some_and(|end| end != TurnEnd::BroughtDown);
    played
        && match task.environment.kind {
            EnvironmentKind::None => true,
            _ if in_used_container(task) => !task.checks_run_scripts(),
            _ => line.work.is_some(),
        }
}

/// What came of grading a trial again.
#[derive(Debug)]
struct Again {
    verdict: Result<Verdict, Fault>,
    /// The old record.
    events: Vec<Event>,
    /// Who was asked.
    models: Models,
    /// What is to be recorded beside the verdict.
    told: Vec<EventBody>,
}

async fn grade_again(
    table: &Table,
    reader: &RunReader,
    task: &Arc<Task>,
    line: &TrialLine,
) -> Again {
    let mut told = Vec::new();
    let models = Models::new(&task.limits, &table.account);
    let (verdict, events) = match reader.events(line) {
        Ok(events) => {
            let record = Record {
                reader,
                line,
                events: &events,
            };
            let verdict = judge(table, task, &record, &models, &mut told).await;
            (verdict, events)
        }
        Err(error) => (Err(lost(error)), Vec::new()),
    };
    Again {
        verdict,
        events,
        models,
        told,
    }
}

/// A trial as it was recorded.
struct Record<'a> {
    reader: &'a RunReader,
    line: &'a TrialLine,
    events: &'a [Event],
}

async fn judge(
    table: &Table,
    task: &Arc<Task>,
    record: &Record<'_>,
    models: &Models,
    told: &mut Vec<EventBody>,
) -> Result<Verdict, Fault> {
    let Record {
        reader,
        line,
        events,
    } = record;
    let actions = Evidence::actions_of(events.iter().cloned());
    let frozen = unpack(reader, line)?;
    let seen = look_again(reader, task, events)?;
    let sight = seen.evidence();
    if sight.is_none() && looks_at_screen(task) {
        return Ok(screen_gone());
    }
    let commands = commands(events);
    let recorded = in_used_container(task).then_some(Place::Recorded(&commands));
    // Nobody uses them to look at pictures and files.
    let runs = task.checks_run_programs() || hand_in::runs_programs(task);
    let programs = match runs && recorded.is_none() {
        true => table.programs.of(task).await?,
        false => None,
    };
    let cut_off = CutOff::after_freeze();
    let name = format!("{}#{} (grading)", line.task, line.epoch);
    let request = request(table, task, name, programs.as_deref());
    let handed = hand_in::take(table, task, &request, &cut_off, frozen.as_ref(), told).await?;
    if let Some(verdict) = handed.verdict() {
        return Ok(verdict);
    }
    let evidence = Evidence {
        cut_off: &cut_off,
        work: handed.work(frozen.as_ref()),
        result: Evidence::result_of(&actions, line.end),
        actions: &actions,
        sight: sight.as_ref(),
        flow: &FlowStep::of(events),
        pictures: &Pictures(reader.folder()),
    };
    let place = recorded.unwrap_or_else(|| fresh_place(&table.providers, &request));
    let notes = Told::default();
    let desk = Desk {
        place: &place,
        judge: table.judge.as_ref().map(|judge| Bench {
            judge,
            account: &models.of_judge,
        }),
        told: &notes,
    };
    let verdict = judged(task, &evidence, &desk).await;
    told.extend(notes.take());
    Ok(handed.marked(verdict?))
}

/// What commands of checks printed, the latest first: a record may have been graded more than once.
fn commands(events: &[Event]) -> Vec<RanCommand> {
    let ran = |event: &Event| match &event.body {
        EventBody::Ran(ran) => Some(ran.clone()),
        _ => None,
    };
    events.iter().rev().filter_map(ran).collect()
}

fn lost(error: StoreError) -> Fault {
    Fault::new(FaultClass::Evidence, error)
}

/// The pictures of a record, where a check looks at them.
fn look_again(reader: &RunReader, task: &Task, events: &[Event]) -> Result<Seen, Fault> {
    let mut seen = Seen::recorded(events);
    if task.asks_for_sight() || task.needs_judge() {
        for picture in [&mut seen.first, &mut seen.last].into_iter().flatten() {
            *picture = reader.picture(picture).map_err(lost)?;
        }
    }
    Ok(seen)
}

fn unpack(reader: &RunReader, line: &TrialLine) -> Result<Option<WorkArchive>, Fault> {
    let Some(digest) = &line.work else {
        return Ok(None);
    };
    let path = reader.unpack_blob(digest).map_err(lost)?;
    WorkArchive::with_left_out(path, line.left_out)
        .map(Some)
        .map_err(|error| evidence_lost(&error))
}

/// The old attempt's record with the new verdict behind it.
fn new_line(
    table: &Table,
    old: &TrialLine,
    attempt: u32,
    mut again: Again,
) -> Result<TrialLine, RunError> {
    let clock = Arc::clone(&table.clock);
    let mut recorder = Recorder::new(&table.writer, clock, &old.task, old.epoch, attempt);
    let mut line = old.clone();
    line.attempt = attempt;
    line.rerun = true;
    line.regraded = true;
    line.played_in = old.played_in.or(Some(old.attempt));
    line.at = table.clock.now();
    let (verdict, fault) = match again.verdict {
        Ok(verdict) => (Some(verdict), None),
        Err(fault) => (None, Some(fault)),
    };
    line.outcome = match &verdict {
        Some(verdict) if verdict.passed => Outcome::Passed,
        Some(_) => Outcome::Failed,
        None => Outcome::Faulted,
    };
    line.score = verdict.as_ref().map_or(0.0, |verdict| verdict.score);
    line.measured = verdict.as_ref().and_then(Verdict::measured);
    line.tainted = verdict.as_ref().is_some_and(Verdict::tainted);
    line.integrity = verdict
        .as_ref()
        .and_then(Verdict::integrity)
        .map(str::to_owned);
    line.reason = verdict
        .as_ref()
        .map_or_else(String::new, |verdict| reason(verdict, None));
    line.fault.clone_from(&fault);
    // A verdict that there is already is not given up for a fault.
    line.is_final = fault.is_none() || old.outcome == Outcome::Faulted;
    // Of an earlier grading only what commands printed is of further use.
    let graded_at = again.events.iter().position(is_grading);
    let (played, graded) = again
        .events
        .split_at(graded_at.unwrap_or(again.events.len()));
    let ran = graded
        .iter()
        .filter(|event| matches!(event.body, EventBody::Ran(_)));
    let models = &mut again.models;
    let mut write = || -> std::io::Result<()> {
        for event in played.iter().chain(ran.clone()) {
            recorder.copy(event)?;
        }
        let note = format!("graded again from attempt {}", old.attempt);
        recorder.record(Source::Harness, None, EventBody::Note(note))?;
        for body in &again.told {
            recorder.record(Source::Grader, None, body.clone())?;
        }
        models.record(None, &table.writer, &mut recorder)?;
        for check in verdict.iter().flat_map(|verdict| &verdict.checks) {
            recorder.record(Source::Grader, None, EventBody::Check(check.clone()))?;
        }
        if let Some(verdict) = &verdict {
            recorder.record(Source::Grader, None, EventBody::Verdict(verdict.clone()))?;
            recorder.record(Source::Harness, None, EventBody::Phase(Phase::Graded))?;
        }
        if let Some(fault) = &fault {
            recorder.record(Source::Harness, None, EventBody::Fault(fault.clone()))?;
        }
        Ok(())
    };
    write().map_err(|source| unwritten(table, source))?;
    line.judge = again.models.usage_of_judge();
    line.usage += &line.judge;
    line.events = recorder
        .finish(verdict.as_ref())
        .map_err(|source| unwritten(table, source))?;
    Ok(line)
}

/// Whether an event belongs to an earlier grading rather than to the play.
fn is_grading(event: &Event) -> bool {
    event.source == Source::Grader || matches!(event.body, EventBody::Fault(_))
}

fn unwritten(table: &Table, source: std::io::Error) -> RunError {
    RunError::Write {
        folder: table.writer.folder().path().display().to_string(),
        source,
    }
}
