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
use agon_sandbox::{Changes, WorkArchive};
use agon_store::{Left, Recorder, Reviews, RunReader, StoreError, TrialLine};
use agon_suite::Plan;
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::attempt::{evidence_lost, reason};
use crate::dispatch::RunEnd;
use crate::elsewhere::can_be_told;
use crate::error::RunError;
use crate::grading::{fresh_place, in_used_container, nothing_left};
use crate::hand_in;
use crate::keep::CHANGES;
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
    fn takes(self, line: &TrialLine, reviews: &Reviews) -> bool {
        let unjudged = |fault: &Fault| fault.class.unjudged();
        // What a person has decided waits for nobody.
        let waits = || {
            line.fault.as_ref().is_some_and(unjudged) && reviews.outcome(line) == Outcome::Faulted
        };
        line.is_final && (self == Self::All || waits())
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
    let reviews = Reviews::read(reader.folder())?;
    let mut lines = reader.trials()?;
    lines.retain(|line| which.takes(line, &reviews));
    let finals = lines.len();
    lines.retain(|line| {
        by_name
            .get(&line.task.to_string())
            .is_some_and(|task| has_evidence(task, Left::of(line)))
    });
    let left_out = finals - lines.len();
    // Those that only wait for a judge are played again instead.
    if left_out > 0 && which == Regraded::All {
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
        let lost = matches!(&result.verdict, Err(fault) if fault.class == FaultClass::Evidence);
        if let (true, Some(error)) = (lost, table.writer.trouble()) {
            return Err(unwritten(table, error));
        }
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
/// have printed; of what was played elsewhere, all that was ever told.
pub fn has_evidence(task: &Task, left: Left) -> bool {
    left.end.is_some_and(|end| end != TurnEnd::BroughtDown)
        && match task.environment.kind {
            _ if left.elsewhere => true,
            EnvironmentKind::None => true,
            _ if in_used_container(task) => !task.checks_run_scripts(),
            // Of what was too large to be kept, there is what commands have printed.
            _ if task.environment.is_container() => left.work || !task.checks_run_scripts(),
            _ => left.work,
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
    if let Some(verdict) = nothing_left(line.end, line.elsewhere, end_note(events)) {
        return Ok(verdict);
    }
    let actions = Evidence::actions_of(events.iter().cloned());
    let frozen = unpack(reader, line)?;
    let mut seen = look_again(reader, task, events)?;
    if line.elsewhere {
        can_be_told(task)?;
        // Of what was before and around it, nobody tells.
        seen = Seen {
            last: seen.last,
            ..Seen::default()
        };
    }
    let sight = seen.evidence();
    if sight.is_none() && looks_at_screen(task) {
        return Ok(screen_gone());
    }
    let commands = commands(events);
    let changes = changes(reader, events)?;
    let is_lost = frozen.is_none() || changes.as_ref().is_some_and(|changes| !changes.is_whole());
    let gone = line.elsewhere
        || in_used_container(task)
        || (is_lost && task.environment.is_container() && !hand_in::runs_programs(task));
    let recorded = gone.then_some(Place::Recorded(&commands));
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
        changes: hand_in::beside(task, changes.as_ref()),
        result: Evidence::result_of(&actions, line.end),
        actions: &actions,
        sight: sight.as_ref(),
        flow: &FlowStep::of(events),
        pictures: &Pictures(reader.folder()),
        told: line.elsewhere,
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
    let verdict = agon_grade::grade(task, &evidence, &desk).await;
    told.extend(notes.take());
    Ok(handed.marked(verdict?))
}

/// What was changed beside the working folder of a container.
fn changes(reader: &RunReader, events: &[Event]) -> Result<Option<Changes>, Fault> {
    let kept = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Kept(kept) if kept.what == CHANGES => Some(&kept.blob),
        _ => None,
    });
    let Some(digest) = kept else {
        return Ok(None);
    };
    let path = reader.unpack_blob(digest).map_err(lost)?;
    let changes = Changes::open(path).map_err(|error| evidence_lost(&error))?;
    Ok(Some(changes))
}

/// What commands of checks printed, the one that counts before others: the latest of those that grading ran,
/// because a record may have been graded more than once; the first of those that a runner told of, because
/// that was graded.
fn commands(events: &[Event]) -> Vec<RanCommand> {
    let by = |event: &Event, grader: bool| match &event.body {
        EventBody::Ran(ran) if (event.source == Source::Grader) == grader => Some(ran.clone()),
        _ => None,
    };
    let ours = events.iter().rev().filter_map(|event| by(event, true));
    let told = events.iter().filter_map(|event| by(event, false));
    ours.chain(told).collect()
}

/// Why the turn ended: the note whose cause the end is.
fn end_note(events: &[Event]) -> &str {
    let ends = events
        .iter()
        .filter(|event| matches!(event.body, EventBody::End(_)));
    let end = ends.map(|event| event.seq).next_back();
    let note = events.iter().find_map(|event| match &event.body {
        EventBody::Note(note) if event.cause.is_some() && event.cause == end => Some(note),
        _ => None,
    });
    note.map_or("", String::as_str)
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
    let mut recorder = Recorder::of_the_past(&table.writer, clock, &old.task, old.epoch, attempt);
    let result = again.verdict.as_ref();
    let (verdict, fault) = (result.ok(), result.err());
    let mut line = TrialLine {
        attempt,
        rerun: true,
        regraded: true,
        played_in: old.played_in.or(Some(old.attempt)),
        at: table.clock.now(),
        ..old.clone().with_result(result)
    };
    line.reason = verdict.map_or_else(String::new, |verdict| reason(verdict, None));
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
        if let Some(verdict) = verdict {
            recorder.record(Source::Grader, None, EventBody::Verdict(verdict.clone()))?;
            recorder.record(Source::Harness, None, EventBody::Phase(Phase::Graded))?;
        }
        if let Some(fault) = fault {
            recorder.record(Source::Harness, None, EventBody::Fault(fault.clone()))?;
        }
        Ok(())
    };
    write().map_err(|source| unwritten(table, source))?;
    // What the judges before have used stands in the lines before.
    line.judge = again.models.usage_of_judge();
    line.usage = old.usage.without(&old.judge);
    line.usage += &line.judge;
    line.events = recorder
        .finish(verdict)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: u64, source: Source, cause: Option<u64>, body: EventBody) -> Event {
        Event {
            seq,
            t: 0.0,
            at: "2026-11-16T12:00:00Z".parse().unwrap(),
            source,
            cause,
            body,
        }
    }

    fn ran(seq: u64, source: Source, stdout: &str) -> Event {
        let ran = RanCommand {
            command: "ls".to_owned(),
            status: Some(0),
            exit: "exit status 0".to_owned(),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            omitted: 0,
            tainted: true,
        };
        event(seq, source, None, EventBody::Ran(ran))
    }

    #[test]
    fn of_what_a_runner_told_the_first_counts_and_of_gradings_the_last() {
        for (source, counts) in [(Source::Environment, "one"), (Source::Grader, "two")] {
            let found = commands(&[ran(1, source, "one"), ran(2, source, "two")]);
            assert_eq!(found[0].stdout, counts, "{source:?}");
        }
    }

    #[test]
    fn why_a_turn_ended_is_read_back_from_its_record() {
        let note = |seq, cause, text: &str| {
            let body = EventBody::Note(text.to_owned());
            event(seq, Source::Harness, cause, body)
        };
        let end = EventBody::End(TurnEnd::Crashed);
        let mut events = vec![
            note(1, None, "before"),
            event(2, Source::Harness, None, end),
        ];
        assert_eq!(end_note(&events), "");
        events.extend([note(3, None, "other"), note(4, Some(2), "it fell over")]);
        assert_eq!(end_note(&events), "it fell over");
    }
}
