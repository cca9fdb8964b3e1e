//! One old row as the record of an attempt.

use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, Outcome, TurnEnd, Verdict};
use agon_core::{
    Digest, Event as CoreEvent, EventBody, Fault, FaultClass, ModelCall, Money, Purpose, Source,
    TaskId, TimeSplit, Usage,
};
use agon_store::{EventsAt, TrialLine};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::instance::id_of;
use super::super::kept_row::KeptRow;
use super::super::metadata::EvalMetadata;
use super::score::score;
use crate::dialect::{Writer, from_iso};
use crate::events::{Action, Event, History};
use crate::metrics::{Metrics, TokenUsage};

#[derive(Debug)]
pub(super) struct Row {
    pub(super) head: Head,
    score: Option<(bool, f64)>,
    history: Vec<Event>,
    metrics: Metrics,
    /// What is kept as it is.
    pub(super) kept: KeptRow,
    /// What of the row could not be read.
    pub(super) warning: Option<String>,
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
    pub(super) verdict: Option<Verdict>,
    pub(super) ended: Timestamp,
    fault: Option<Fault>,
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
        let mut warning = None;
        let mut take = |key: &str| fields.remove(key).filter(|value| !value.is_null());
        let history = match take("history") {
            Some(Value::Array(items)) => match History::from_json(items) {
                Ok(history) => history.into_flat(),
                Err(error) => {
                    warning = Some(format!("line {line}: its history is left out: {error}"));
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
        let metrics = kept.metrics.clone();
        let metrics = metrics.and_then(|value| serde_json::from_value(value).ok());
        Ok(Self {
            head,
            score,
            history,
            metrics: metrics.unwrap_or_default(),
            kept,
            warning,
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
        let (verdict, fault) = match self.score {
            Some((passed, score)) => (Some(verdict(passed, score)), None),
            None => (None, Some(self.fault())),
        };
        match (&verdict, &fault) {
            (Some(verdict), _) => {
                writer.push(Source::Grader, None, EventBody::Verdict(verdict.clone()))
            }
            (None, Some(fault)) => {
                writer.push(Source::Harness, None, EventBody::Fault(fault.clone()))
            }
            (None, None) => 0,
        };
        let latencies = self.metrics.response_latencies.iter();
        let latency = latencies.fold(0.0, |sum, call| sum + call.latency);
        let total = writer.seconds();
        let agent = latency.clamp(0.0, total.max(0.0));
        Told {
            verdict,
            fault,
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

/// The calls of models that a row's metrics tell of, each put before the action that it led to.
struct Calls {
    left: std::vec::IntoIter<(TokenUsage, f64, Option<f64>)>,
    response: Option<String>,
    usage: Usage,
}

impl Calls {
    fn of(metrics: &Metrics) -> Self {
        let (used, costs) = (&metrics.token_usages, &metrics.costs);
        // Older files have money without tokens, or only their sums.
        let calls = match used.len().max(costs.len()) {
            0 if *metrics == Metrics::default() => 0,
            0 => {
                let cost = (metrics.accumulated_cost > 0.0).then_some(metrics.accumulated_cost);
                let sum = metrics.accumulated_token_usage.clone();
                return Self::new(vec![(sum, 0.0, cost)]);
            }
            calls => calls,
        };
        let latencies = &metrics.response_latencies;
        let one = |at: usize| {
            let used = used.get(at).cloned().unwrap_or_default();
            let latency = latencies.get(at).map_or(0.0, |call| call.latency);
            (used, latency, costs.get(at).map(|cost| cost.cost))
        };
        Self::new((0..calls).map(one).collect())
    }

    fn new(calls: Vec<(TokenUsage, f64, Option<f64>)>) -> Self {
        Self {
            left: calls.into_iter(),
            response: None,
            usage: Usage::default(),
        }
    }

    /// Several actions of one answer cost one call.
    fn before(&mut self, writer: &mut Writer, event: &Event) {
        let metadata = event.tool_call_metadata.as_ref();
        let response = metadata.and_then(|metadata| metadata.model_response.get("id")?.as_str());
        if response.is_some() && response == self.response.as_deref() {
            return;
        }
        self.response = response.map(str::to_owned);
        if !matches!(event.action(), Some(Action::System(_))) {
            self.next(writer);
        }
    }

    fn rest(&mut self, writer: &mut Writer) {
        while self.next(writer) {}
    }

    fn next(&mut self, writer: &mut Writer) -> bool {
        let Some((used, latency, cost)) = self.left.next() else {
            return false;
        };
        let cost = cost.filter(|cost| cost.is_finite() && *cost >= 0.0);
        let usage = Usage {
            input_tokens: used.prompt_tokens,
            output_tokens: used.completion_tokens,
            cached_tokens: used.cache_read_tokens,
            cache_write_tokens: used.cache_write_tokens,
            calls: 1,
            money: cost.map(|cost| Money::from_picos((cost * 1e12).round() as u64)),
            unpriced_calls: u64::from(cost.is_none()),
            ..Usage::default()
        };
        self.usage += &usage;
        let call = ModelCall {
            model: used.model,
            purpose: Purpose::Agent,
            seconds: latency,
            tries: 1,
            taped: false,
            usage,
            request: None,
            response: None,
            fault: None,
            why: None,
        };
        writer.push(Source::Agent, None, EventBody::Model(call));
        true
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
        let passed = self.verdict.as_ref().map(|verdict| verdict.passed);
        TrialLine {
            task: task.clone(),
            epoch: 1,
            attempt,
            is_final,
            outcome: match passed {
                Some(true) => Outcome::Passed,
                Some(false) => Outcome::Failed,
                None => Outcome::Faulted,
            },
            score: self.verdict.as_ref().map_or(0.0, |verdict| verdict.score),
            measured: None,
            fault: self.fault,
            end: self.end,
            steps: self.steps,
            seconds: self.seconds,
            usage: self.usage,
            retried: attempt > 1,
            rerun: false,
            regraded: false,
            judge: Usage::default(),
            played_in: None,
            elsewhere: false,
            tainted: false,
            integrity: None,
            reason: match passed {
                Some(false) => "test_result: as the imported row says".to_owned(),
                _ => String::new(),
            },
            events,
            work: None,
            failed_checks: self
                .verdict
                .as_ref()
                .map(Verdict::failed_checks)
                .unwrap_or_default(),
            left_out: 0,
            key,
            at: self.ended,
        }
    }
}
