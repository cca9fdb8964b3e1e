//! The row of a trial that was played by the engine.

use agon_core::{EventBody, Money, Verdict};
use agon_store::TrialLine;
use serde_json::{Map, Value, json};

use super::instance::id_in_dataset;
use super::kept_history;
use super::kept_row::KeptRow;
use super::metadata::EvalMetadata;
use super::output::EvalOutput;
use crate::dialect::{Record, history_and_metrics};
use crate::events::History;
use crate::state::{Ending, last_error};

/// Everything that a row is made from.
#[derive(Debug, Clone, Copy)]
pub struct Played<'a> {
    pub line: &'a TrialLine,
    /// That of its task.
    pub name: &'a str,
    pub record: Record<'a>,
    pub metadata: Option<&'a EvalMetadata>,
    /// The row of the dataset.
    pub instance: Option<&'a Map<String, Value>>,
    pub max_budget: Option<Money>,
}

/// A faulted trial has no result: its `test_result` is empty and its error tells why. An imported row is what
/// it was.
pub fn eval_output_of(played: &Played<'_>) -> EvalOutput {
    let Played {
        line,
        name,
        record,
        metadata,
        instance,
        max_budget,
    } = played;
    let verdict = record
        .events
        .iter()
        .rev()
        .find_map(|event| match &event.body {
            EventBody::Verdict(verdict) => Some(verdict),
            _ => None,
        });
    let told = Ending::of(record.events);
    let note = told.note;
    let (history, metrics) = history_and_metrics(record, *max_budget);
    let error = last_error(line.end.or(told.end), line.fault.as_ref(), note);
    let row = EvalOutput {
        instance_id: instance
            .and_then(|row| id_in_dataset(row, name))
            .unwrap_or_else(|| line.task.id().to_owned()),
        test_result: match (&line.fault, verdict) {
            (None, Some(verdict)) => result(verdict, line, record),
            _ => Map::new(),
        },
        instruction: record.instruction.map(str::to_owned),
        metadata: metadata.cloned(),
        history: Some(kept_history::of(record).unwrap_or(History::Flat(history))),
        metrics: Some(metrics.with_condenser(record)),
        error: (!error.is_empty()).then_some(error),
        instance: instance.cloned(),
    };
    // What another system found holds until somebody has graded again.
    let imported = (!line.regraded).then(|| KeptRow::of(record)).flatten();
    match imported {
        Some(imported) => imported.restore(row),
        None => row,
    }
}

fn result(verdict: &Verdict, line: &TrialLine, record: &Record<'_>) -> Map<String, Value> {
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
    put("resolved", json!(verdict.passed));
    put("result", json!(verdict.passed));
    put("score", json!(verdict.score));
    put("checks", json!(verdict.checks));
    if let Some(end) = line.end {
        put("end", json!(end.name()));
    }
    if let Some(integrity) = verdict.integrity() {
        put("integrity", json!(integrity));
    }
    if verdict.tainted() {
        put("tainted", json!(true));
    }
    let mut files = Map::new();
    for event in record.events {
        let EventBody::Kept(kept) = &event.body else {
            continue;
        };
        let path = kept.what.strip_prefix("file:");
        if path.is_none() && kept.what != "patch" {
            continue;
        }
        let Some(bytes) = record.bodies.kept(kept) else {
            continue;
        };
        let text = Value::from(String::from_utf8_lossy(&bytes));
        match path {
            Some(path) => files.insert(path.to_owned(), text),
            None => put("git_patch", text),
        };
    }
    if !files.is_empty() {
        result.insert("files".to_owned(), Value::Object(files));
    }
    result
}
