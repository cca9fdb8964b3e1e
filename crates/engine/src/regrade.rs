//! Grades recorded trials again without playing them: from their events and their frozen working
//! folder. The old lines stay in the record, the new ones become final.

use std::collections::HashMap;
use std::sync::Arc;

use agon_core::event::Phase;
use agon_core::verdict::{Outcome, Verdict};
use agon_core::{CutOff, Event, EventBody, Fault, FaultClass, Source, Task};
use agon_grade::Evidence;
use agon_sandbox::WorkArchive;
use agon_store::progress::supersede;
use agon_store::{Recorder, RunReader, StoreError, TrialLine};
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::attempt::{evidence_lost, first_failure};
use crate::dispatch::RunEnd;
use crate::error::RunError;
use crate::table::Table;
use crate::trial::{fresh_place, request};

/// Grades every final trial of `tasks` again, `workers` at a time.
pub async fn regrade(
    table: &Arc<Table>,
    reader: &RunReader,
    tasks: &[Arc<Task>],
    workers: usize,
    stop: &CancellationToken,
) -> Result<RunEnd, RunError> {
    let by_name: HashMap<String, &Arc<Task>> = tasks
        .iter()
        .map(|task| (task.id.to_string(), task))
        .collect();
    let mut lines = reader.trials()?;
    lines.retain(|line| line.is_final && by_name.contains_key(&line.task.to_string()));
    table.watch.planned(lines.len() as u64, 0);
    let mut graded = stream::iter(lines)
        .map(|line| {
            let task = Arc::clone(by_name[&line.task.to_string()]);
            async move { (grade_again(table, reader, &task, &line).await, line) }
        })
        .buffer_unordered(workers.max(1));
    let mut ended = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(RunEnd::Interrupted),
            next = graded.next() => match next {
                None => break,
                Some((result, old)) => ended.push(new_line(table, &old, result)?),
            },
        }
    }
    // All at once: a run that is killed while grading keeps its old verdicts.
    supersede(reader.folder(), &ended)?;
    for line in &ended {
        table.watch.ended(line);
    }
    Ok(RunEnd::Complete)
}

async fn grade_again(
    table: &Table,
    reader: &RunReader,
    task: &Task,
    line: &TrialLine,
) -> Result<(Verdict, Vec<Event>), (Fault, Vec<Event>)> {
    let events = match reader.events(line) {
        Ok(events) => events,
        Err(error) => return Err((Fault::new(FaultClass::Evidence, error), Vec::new())),
    };
    let actions = Evidence::actions_of(events.iter().cloned());
    let work = match unpack(reader, line) {
        Ok(work) => work,
        Err(fault) => return Err((fault, events)),
    };
    let cut_off = CutOff::after_freeze();
    let evidence = Evidence {
        cut_off: &cut_off,
        work: work.as_ref(),
        result: Evidence::result_of(&actions),
        actions: &actions,
    };
    let request = request(
        table,
        task,
        format!("{}#{} (grading)", line.task, line.epoch),
    );
    let place = fresh_place(&table.providers, task.environment.kind, &request);
    match agon_grade::grade(task, &evidence, &place).await {
        Ok(verdict) => Ok((verdict, events)),
        Err(fault) => Err((fault, events)),
    }
}

fn unpack(reader: &RunReader, line: &TrialLine) -> Result<Option<WorkArchive>, Fault> {
    let lost = |error: StoreError| Fault::new(FaultClass::Evidence, error);
    let Some(digest) = &line.work else {
        return Ok(None);
    };
    let path = reader.unpack_blob(digest).map_err(lost)?;
    WorkArchive::new(path)
        .map(Some)
        .map_err(|error| evidence_lost(&error))
}

/// The old attempt's record with the new verdict behind it.
fn new_line(
    table: &Table,
    old: &TrialLine,
    result: Result<(Verdict, Vec<Event>), (Fault, Vec<Event>)>,
) -> Result<TrialLine, RunError> {
    let attempt = old.attempt + 1;
    let clock = Arc::clone(&table.clock);
    let mut recorder = Recorder::new(&table.writer, clock, &old.task, old.epoch, attempt);
    let mut line = old.clone();
    line.attempt = attempt;
    line.rerun = true;
    line.at = table.clock.now();
    let (verdict, fault, events) = match result {
        Ok((verdict, events)) => (Some(verdict), None, events),
        Err((fault, events)) => (None, Some(fault), events),
    };
    line.outcome = match &verdict {
        Some(verdict) if verdict.passed => Outcome::Passed,
        Some(_) => Outcome::Failed,
        None => Outcome::Faulted,
    };
    line.score = verdict.as_ref().map_or(0.0, |verdict| verdict.score);
    line.tainted = verdict.as_ref().is_some_and(Verdict::tainted);
    line.integrity = verdict
        .as_ref()
        .and_then(Verdict::integrity)
        .map(str::to_owned);
    line.reason = verdict.as_ref().map(first_failure).unwrap_or_default();
    line.fault.clone_from(&fault);
    let mut write = || -> std::io::Result<()> {
        for event in events.iter().take_while(|event| !is_grading(event)) {
            recorder.copy(event)?;
        }
        let note = format!("graded again from attempt {}", old.attempt);
        recorder.record(Source::Harness, None, EventBody::Note(note))?;
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
