//! One old row as the record of an attempt.

use std::io;

use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, TurnEnd, Verdict};
use agon_core::{
    Digest, Event as CoreEvent, EventBody, Fault, FaultClass, Source, TaskId, TimeSplit, TrialId,
    Usage,
};
use agon_store::{EventsAt, RunWriter, TrialLine};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::instance::id_of;
use super::super::kept_history;
use super::super::kept_row::KeptRow;
use super::super::metadata::EvalMetadata;
use super::calls::Calls;
use super::places::Place;
use super::score::{is_of_agon, own_checks, own_end, score};
use crate::dialect::{Writer, from_iso};
use crate::events::{Action, Event, EventError, History};
use crate::metrics::Metrics;

#[derive(Debug)]
pub(super) struct Row {
    pub(super) head: Head,
    score: Option<(bool, f64)>,
    history: Vec<Event>,
    metrics: Metrics,
    /// What is kept as it is.
    kept: KeptRow,
    /// The same of the history, as far as it can be read.
    items: Vec<Value>,
    /// What of the row could not be read.
    pub(super) warnings: Vec<String>,
}

/// What must be known of all rows before the first is taken over.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) instruction: Option<String>,
    pub(super) metadata: Option<EvalMetadata>,
    pub(super) began: Option<Timestamp>,
    /// It holds a result.
    pub(super) graded: bool,
    pub(super) erred: bool,
    /// It holds a result in Agon's own words.
    pub(super) of_agon: bool,
}

/// What a row comes to.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) events: Vec<CoreEvent>,
    pub(super) result: Result<Verdict, Fault>,
    pub(super) ended: Timestamp,
    end: Option<TurnEnd>,
    steps: u32,
    seconds: TimeSplit,
    usage: Usage,
}

impl Row {
    pub(super) fn read(value: Value, line: usize) -> Result<Self, String> {
        let Value::Object(mut fields) = value else {
            return Err("a row is an object".to_owned());
        };
        let id = id_of(&fields).ok_or("the row has no instance_id")?;
        let test_result = match fields.get("test_result") {
            Some(Value::Object(result)) => result.clone(),
            _ => Map::new(),
        };
        let score = score(&test_result, &fields);
        let mut warnings = Vec::new();
        let mut take = |key: &str| fields.remove(key).filter(|value| !value.is_null());
        let (history, items) = match take("history") {
            Some(Value::Array(items)) => read_history(items, line, &mut warnings),
            _ => (Vec::new(), Vec::new()),
        };
        let text = |value: Value| value.as_str().map(str::to_owned);
        let instruction = take("instruction").and_then(text);
        let error = take("error");
        let head = Head {
            id: id.clone(),
            instruction: instruction.clone(),
            metadata: take("metadata").and_then(|value| match value {
                Value::Object(fields) => Some(EvalMetadata::of_fields(fields).0),
                _ => None,
            }),
            began: history
                .iter()
                .find_map(|event| from_iso(event.timestamp.as_deref()?)),
            graded: score.is_some(),
            erred: error.is_some(),
            of_agon: is_of_agon(&test_result),
        };
        let kept = KeptRow {
            instance_id: id,
            test_result,
            instruction,
            metrics: take("metrics"),
            // Whatever it is, it must not get lost.
            error: error.map(|value| text(value.clone()).unwrap_or(value.to_string())),
            instance: take("instance").and_then(|value| match value {
                Value::Object(fields) => Some(fields),
                _ => None,
            }),
        };
        let (metrics, unread) = Metrics::read_leniently(kept.metrics.as_ref());
        if !unread.is_empty() {
            let unread = unread.join(", ");
            warnings.push(format!(
                "line {line}: this of its metrics can't be read and counts nothing: {unread}"
            ));
        }
        Ok(Self {
            head,
            score,
            history,
            metrics,
            kept,
            items,
            warnings,
        })
    }

    /// Keeps what the record has no place for; the events that lead to it are returned.
    pub(super) fn keep(&self, writer: &RunWriter) -> io::Result<Vec<EventBody>> {
        let mut events = self.kept.keep(writer)?;
        events.extend(kept_history::keep(&self.items, writer)?);
        Ok(events)
    }

    /// `run_began` stands in where the row tells no time; `kept` leads to what is kept as it is.
    pub(super) fn tell(&self, run_began: Timestamp, kept: Vec<EventBody>) -> Told {
        let began = self.head.began.unwrap_or(run_began);
        let mut writer = Writer::new(began);
        writer.push(Source::Harness, None, EventBody::Phase(Phase::Running));
        let mut calls = Calls::of(&self.metrics);
        writer.tell(&self.history, |writer, event| calls.before(writer, event));
        calls.rest(&mut writer);
        for body in kept {
            writer.push(Source::Harness, None, body);
        }
        let end = self.end();
        if let Some(end) = end {
            writer.push(Source::Harness, None, EventBody::End(end));
        }
        if let Some(error) = &self.kept.error {
            let note = format!("the imported row tells of an error: {error}");
            writer.push(Source::Harness, None, EventBody::Note(note));
        }
        let result = match self.score {
            Some((passed, score)) => Ok(self.verdict(passed, score)),
            None => Err(self.fault()),
        };
        match result.clone() {
            Ok(verdict) => writer.push(Source::Grader, None, EventBody::Verdict(verdict)),
            Err(fault) => writer.push(Source::Harness, None, EventBody::Fault(fault)),
        };
        let latencies = self.metrics.response_latencies.iter();
        let latency = latencies.fold(0.0, |sum, call| sum + call.latency);
        let total = writer.seconds();
        let agent = latency.clamp(0.0, total.max(0.0));
        Told {
            result,
            end,
            steps: writer.steps,
            seconds: TimeSplit {
                agent,
                environment: total - agent,
                harness: 0.0,
            },
            usage: calls.usage,
            ended: writer.now(),
            events: writer.finish(),
        }
    }

    fn end(&self) -> Option<TurnEnd> {
        if let Some(end) = own_end(&self.kept.test_result) {
            return Some(end);
        }
        let error = self.kept.error.as_deref().unwrap_or_default();
        let says = |words: &str| error.contains(words);
        if says("AgentStuckInLoop") {
            return Some(TurnEnd::Stuck);
        }
        if says("maximum iteration") || says("last iteration") {
            return Some(TurnEnd::StepLimit);
        }
        if says("maximum budget") || says("its budget") {
            return Some(TurnEnd::MoneyLimit);
        }
        let last = self.history.iter().rev().find_map(Event::action)?;
        match last {
            Action::Finish(_) => Some(TurnEnd::Finished),
            Action::Reject(_) => Some(TurnEnd::Rejected),
            // Without an error nobody knows how it ended.
            _ => self.kept.error.is_some().then_some(TurnEnd::Left),
        }
    }

    fn verdict(&self, passed: bool, score: f64) -> Verdict {
        let checks = own_checks(&self.kept.test_result).unwrap_or_else(|| {
            vec![CheckResult {
                score,
                ..CheckResult::plain("test_result", passed, "as the imported row says")
            }]
        });
        Verdict {
            passed,
            score,
            checks,
        }
    }

    /// Why there is no result: an error of the infrastructure, or nobody has graded yet.
    fn fault(&self) -> Fault {
        let class = match &self.kept.error {
            Some(error) if error.starts_with("Timeout after") => FaultClass::Timeout,
            Some(error) if error.contains("AgentRuntime") => FaultClass::Environment,
            _ => FaultClass::NeedsJudge,
        };
        let why = match &self.kept.error {
            Some(error) => format!("the imported row holds no result: {error}"),
            None => "the imported row holds no result: grade it where it was made".to_owned(),
        };
        Fault::new(class, why)
    }
}

/// Its events, and what they were read from. Those that can't be read are told and left out.
fn read_history(
    mut items: Vec<Value>,
    line: usize,
    warnings: &mut Vec<String>,
) -> (Vec<Event>, Vec<Value>) {
    let read = |items: &[Value]| History::from_json(items.to_vec()).map(History::into_flat);
    if let Ok(events) = read(&items) {
        return (events, items);
    }
    let (all, mut why) = (items.len(), None);
    items.retain(|item| match read(std::slice::from_ref(item)) {
        Ok(_) => true,
        Err(EventError::At { error, .. }) => {
            why.get_or_insert(*error);
            false
        }
        Err(error) => {
            why.get_or_insert(error);
            false
        }
    });
    // Each could be read, and not all of them together: pairs among others.
    let events = read(&items).unwrap_or_else(|error| {
        items.clear();
        why = Some(error);
        Vec::new()
    });
    if let Some(why) = why {
        let left_out = all - items.len();
        warnings.push(format!(
            "line {line}: {left_out} of {all} events of its history are left out: {why}"
        ));
    }
    (events, items)
}

/// The first check that failed.
fn why(verdict: &Verdict) -> String {
    let mut checks = verdict.checks.iter();
    let failed = checks.find(|check| !check.passed);
    failed.map_or_else(String::new, |check| {
        format!("{}: {}", check.check, check.reason)
    })
}

impl Told {
    pub(super) fn line(
        self,
        task: &TaskId,
        place: Place,
        events: EventsAt,
        key: Digest,
    ) -> TrialLine {
        let trial = TrialId {
            task: task.clone(),
            epoch: place.epoch,
        };
        let result = self.result.as_ref();
        TrialLine {
            is_final: place.is_final,
            end: self.end,
            steps: self.steps,
            seconds: self.seconds,
            usage: self.usage,
            retried: place.retried,
            reason: match result {
                Ok(verdict) if !verdict.passed => why(verdict),
                _ => String::new(),
            },
            ..TrialLine::new(trial, place.attempt, result, events, key, self.ended)
        }
    }
}
