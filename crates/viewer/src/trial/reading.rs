//! What the pages and the API ask about an attempt.

use agon_core::{Said, TaskId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::head::{self, Found};
use super::record::Record;
use super::{stepping, tracking};
use crate::error::ViewerError;
use crate::library::Run;
use crate::shape::{Step, Steps, Track, TrialHead, TrialKey};
use crate::visible::plain;

pub(crate) fn head(run: &Run, key: &TrialKey) -> Result<TrialHead, ViewerError> {
    let found = find(run, key)?;
    head::head(run, key, &found)
}

/// A trial that nobody has played yet has no steps.
pub(crate) fn steps(
    run: &Run,
    key: &TrialKey,
    from: u32,
    count: u32,
) -> Result<Steps, ViewerError> {
    Ok(match find(run, key)?.record {
        Some(record) => stepping::rows(&record.kept().outline, from, count),
        None => stepping::none(),
    })
}

pub(crate) fn step(run: &Run, key: &TrialKey, n: u32) -> Result<Step, ViewerError> {
    stepping::whole(&record(run, key)?, n)
}

/// One event, as it is recorded.
pub(crate) fn event(run: &Run, key: &TrialKey, seq: u64) -> Result<Box<RawValue>, ViewerError> {
    record(run, key)?.by_seq(seq)
}

/// What was said in a call of a model.
#[derive(Deserialize)]
struct Call {
    model: Bodies,
}

#[derive(Deserialize)]
struct Bodies {
    request: Option<Said>,
    response: Option<Said>,
}

/// A body of a model call, put together again: `which` is `request` or `response`.
pub(crate) fn said(run: &Run, key: &TrialKey, seq: u64, which: &str) -> Result<Value, ViewerError> {
    if !matches!(which, "request" | "response") {
        let why = "ask for the request or the response of a model call";
        return Err(ViewerError::BadRequest(why.to_owned()));
    }
    let none = || ViewerError::NotFound(format!("event {seq} has no {which} of a model"));
    let event = event(run, key, seq)?;
    let Call { model } = serde_json::from_str(event.get()).map_err(|_| none())?;
    let said = match which {
        "request" => model.request,
        _ => model.response,
    };
    let said = said.ok_or_else(none)?;
    Ok(run.folder().said(&said)?)
}

pub(crate) fn track(run: &Run, key: &TrialKey) -> Result<Track, ViewerError> {
    match find(run, key)?.record {
        Some(record) => tracking::track(&record),
        None => Ok(Track::default()),
    }
}

fn record(run: &Run, key: &TrialKey) -> Result<Record, ViewerError> {
    let found = find(run, key)?;
    let why = found.problem;
    found.record.ok_or_else(|| {
        let why = why.unwrap_or_else(|| "nothing is recorded of this trial yet".to_owned());
        ViewerError::NotFound(why)
    })
}

fn find(run: &Run, key: &TrialKey) -> Result<Found, ViewerError> {
    let none = || {
        ViewerError::NotFound(format!(
            "the run has no attempt {} at epoch {} of {}",
            key.attempt,
            key.epoch,
            plain(&key.task)
        ))
    };
    let task = TaskId::parse(&key.task).map_err(|_| none())?;
    let line = run.line(key)?;
    let (record, problem) = match &line {
        Some(line) => match Record::of_line(run.folder(), line) {
            Ok(record) => (Some(record), None),
            Err(error) => (None, Some(format!("The record is missing: {error}."))),
        },
        None => {
            let record = Record::unended(run.folder(), &task, key.epoch, key.attempt)?;
            if record.is_none() {
                planned(run, &task, key)?.then_some(()).ok_or_else(none)?;
            }
            (record, None)
        }
    };
    Ok(Found {
        task,
        line,
        record,
        problem,
    })
}

/// A trial that is to be played has no attempt yet, or one too young to be written down.
fn planned(run: &Run, task: &TaskId, key: &TrialKey) -> Result<bool, ViewerError> {
    let manifest = run.manifest()?;
    Ok((1..=manifest.epochs).contains(&key.epoch)
        && (key.attempt == 0 || run.folder().is_written())
        && manifest.tasks.iter().any(|planned| planned.task == *task))
}
