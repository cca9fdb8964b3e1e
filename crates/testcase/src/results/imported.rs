//! One file of the original as the record of a trial.

use agon_agent::elsewhere::Delivered;
use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, Verdict};
use agon_core::{
    Digest, Event, EventBody, Fault, FaultClass, Picture, Source, TaskId, TimeSplit, TrialId, Usage,
};
use agon_store::{EventsAt, Review, ReviewVerdict, TrialLine};
use jiff::Timestamp;

use super::schema::TestCaseRun;
use super::told::{Teller, delivered};

/// Who is named for verdicts of people that came with the files.
const REVIEWER: &str = "imported";

#[derive(Debug)]
pub(crate) struct Imported<'a> {
    run: &'a TestCaseRun,
    told: Delivered,
    began: Timestamp,
    /// `None`: nobody has judged it.
    pub(crate) verdict: Option<Verdict>,
}

impl<'a> Imported<'a> {
    pub(crate) fn of(run: &'a TestCaseRun, began: Timestamp) -> Self {
        let judged = run.ai_score >= 0.0;
        let comment = run.ai_comment.clone().unwrap_or_default();
        let verdict = judged.then(|| {
            let passed = run.ai_score > 0.0;
            let score = run.ai_score.clamp(0.0, 1.0);
            Verdict {
                passed,
                score,
                checks: vec![CheckResult {
                    score,
                    ..CheckResult::plain("imported validation", passed, comment)
                }],
            }
        });
        Self {
            run,
            told: delivered(run, Teller::File),
            began,
            verdict,
        }
    }

    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.told.events.iter().filter_map(|told| match &told.body {
            EventBody::Observation(seen) => seen.screen.as_ref().map(|screen| &screen.picture),
            EventBody::Screen(record) => Some(&record.screen.picture),
            _ => None,
        })
    }

    /// `kept` leads to the file as it was.
    pub(crate) fn events(&self, kept: EventBody) -> Vec<Event> {
        let mut record = Record {
            began: self.began,
            now: self.began,
            events: Vec::new(),
        };
        record.push(Source::Harness, None, EventBody::Phase(Phase::Running));
        let task = EventBody::Instruction(self.run.task.clone());
        record.push(Source::User, None, task);
        let first = record.events.len() as u64;
        for told in &self.told.events {
            record.now = told.at.unwrap_or(record.now).max(record.now);
            let cause = told.cause.map(|index| first + index as u64);
            record.push(told.source, cause, told.body.clone());
        }
        record.push(Source::Harness, None, kept);
        record.push(Source::Harness, None, EventBody::End(self.told.end));
        match &self.verdict {
            Some(verdict) => {
                for check in &verdict.checks {
                    record.push(Source::Grader, None, EventBody::Check(check.clone()));
                }
                record.push(Source::Grader, None, EventBody::Verdict(verdict.clone()));
            }
            None => record.push(Source::Harness, None, EventBody::Fault(ungraded())),
        }
        record.events
    }

    pub(crate) fn line(
        &self,
        task: &TaskId,
        events: EventsAt,
        key: Digest,
        at: Timestamp,
    ) -> TrialLine {
        let judge = Usage {
            input_tokens: self.run.validation_input_tokens,
            output_tokens: self.run.validation_output_tokens,
            ..Usage::default()
        };
        let mut usage = self.told.usage.clone();
        usage += &judge;
        let verdict = self.verdict.as_ref();
        let trial = TrialId {
            task: task.clone(),
            epoch: 1,
        };
        let fault = ungraded();
        let line = TrialLine::new(trial, 1, verdict.ok_or(&fault), events, key, at);
        TrialLine {
            end: Some(self.told.end),
            steps: self.told.steps,
            seconds: TimeSplit {
                agent: at.duration_since(self.began).as_secs_f64().max(0.0),
                ..TimeSplit::default()
            },
            usage,
            judge,
            elsewhere: true,
            tainted: !self.told.commands.is_empty(),
            reason: match verdict {
                Some(verdict) if !verdict.passed => short(self.run.ai_comment.as_deref()),
                _ => String::new(),
            },
            ..line
        }
    }

    /// What a person has said about it.
    pub(crate) fn review(&self, task: &TaskId, at: Timestamp) -> Option<Review> {
        let said = self.run.human_score;
        (said >= 0.0).then(|| Review {
            at,
            task: task.clone(),
            epoch: 1,
            attempt: 1,
            verdict: match said > 0.0 {
                true => ReviewVerdict::Pass,
                false => ReviewVerdict::Fail,
            },
            comment: self.run.human_comment.clone().unwrap_or_default(),
            reviewer: REVIEWER.to_owned(),
        })
    }
}

fn ungraded() -> Fault {
    let why = "the imported file holds no score: `agon validate RUN --suite TESTCASES --judge NAME` grades it";
    Fault::new(FaultClass::NeedsJudge, why)
}

fn short(text: Option<&str>) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.unwrap_or_default()
        .chars()
        .map(plain)
        .take(300)
        .collect()
}

#[derive(Debug)]
struct Record {
    began: Timestamp,
    now: Timestamp,
    events: Vec<Event>,
}

impl Record {
    fn push(&mut self, source: Source, cause: Option<u64>, body: EventBody) {
        self.events.push(Event {
            seq: self.events.len() as u64,
            t: self.now.duration_since(self.began).as_secs_f64(),
            at: self.now,
            source,
            cause,
            body,
        });
    }
}
