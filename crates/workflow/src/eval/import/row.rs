//! One old row as the record of an attempt.

use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, TurnEnd, Verdict};
use agon_core::{
    Digest, Event as CoreEvent, EventBody, Fault, FaultClass, Source, TaskId, TimeSplit, TrialId,
    Usage,
};
use agon_store::{EventsAt, TrialLine};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::instance::id_of;
use super::super::kept_row::KeptRow;
use super::super::metadata::EvalMetadata;
use super::calls::Calls;
use super::score::score;
use crate::dialect::{Writer, from_iso};
use crate::events::{Action, Event, History};
use crate::metrics::Metrics;

#[derive(Debug)]
pub(super) struct Row {
    pub(super) head: Head,
    score: Option<(bool, f64)>,
    history: Vec<Event>,
    metrics: Metrics,
    /// What is kept as it is.
    pub(super) kept: KeptRow,
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
        let history = match take("history") {
            Some(Value::Array(items)) => match History::from_json(items) {
                Ok(history) => history.into_flat(),
                Err(error) => {
                    warnings.push(format!("line {line}: its history is left out: {error}"));
                    Vec::new()
                }
            },
            _ => Vec::new(),
        };
        let text = |value: Value| value.as_str().map(str::to_owned);
        let instruction = take("instruction").and_then(text);
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
        };
        let kept = KeptRow {
            instance_id: id,
            test_result,
            instruction,
            metrics: take("metrics"),
            // Whatever it is, it must not get lost.
            error: take("error").map(|value| text(value.clone()).unwrap_or(value.to_string())),
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
            warnings,
        })
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
            Some((passed, score)) => Ok(verdict(passed, score)),
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

fn verdict(passed: bool, score: f64) -> Verdict {
    Verdict {
        passed,
        score,
        checks: vec![CheckResult {
            score,
            ..CheckResult::plain("test_result", passed, "as the imported row says")
        }],
    }
}

impl Told {
    pub(super) fn line(
        self,
        task: &TaskId,
        attempt: u32,
        is_final: bool,
        events: EventsAt,
        key: Digest,
    ) -> TrialLine {
        let trial = TrialId {
            task: task.clone(),
            epoch: 1,
        };
        let result = self.result.as_ref();
        TrialLine {
            is_final,
            end: self.end,
            steps: self.steps,
            seconds: self.seconds,
            usage: self.usage,
            retried: attempt > 1,
            reason: match result {
                Ok(verdict) if !verdict.passed => {
                    "test_result: as the imported row says".to_owned()
                }
                _ => String::new(),
            },
            ..TrialLine::new(trial, attempt, result, events, key, self.ended)
        }
    }
}
