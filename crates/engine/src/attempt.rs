//! What all phases of an attempt share: what is played, the record, the clock, the sums. Turns into
//! one line of `trials.jsonl` at the end, whichever way the attempt ended.

use std::sync::Arc;
use std::time::Duration;
use std::{io, mem};

use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, TurnEnd, Verdict};
use agon_core::{
    Clock, Digest, EventBody, Fault, FaultClass, Observation, Seed, Source, Task, TimeSplit,
    TrialId,
};
use agon_llm::Scrubber;
use agon_store::{Recorder, TrialLine};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::halt::Halt;
use crate::models::Models;
use crate::programs::Programs;
use crate::so_far::SoFar;
use crate::table::Table;

/// One attempt to be played.
#[derive(Debug, Clone)]
pub struct Job {
    pub task: Arc<Task>,
    pub epoch: u32,
    /// Number of the first attempt; retries count on from here.
    pub attempt: u32,
    pub seed: Seed,
    /// Resume key of the task.
    pub key: Digest,
    /// Asked for again after it had been graded: the first verdict counts, whatever comes of this draw.
    pub rerun: bool,
    /// An earlier attempt faulted.
    pub retried: bool,
    /// Where the faulted line says that it is final whose place this attempt takes.
    pub replaces: Option<u64>,
}

impl Job {
    pub fn trial(&self) -> TrialId {
        TrialId {
            task: self.task.id.clone(),
            epoch: self.epoch,
        }
    }
}

/// On whom the time goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spender {
    Agent,
    Environment,
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) table: Arc<Table>,
    pub(crate) job: Job,
    pub(crate) trial: TrialId,
    pub(crate) recorder: Recorder,
    pub(crate) so_far: SoFar,
    pub(crate) models: Models,
    pub(crate) steps: u32,
    pub(crate) end: Option<TurnEnd>,
    /// Ends the agent's turn from outside; what it did so far is kept.
    pub(crate) halt: Halt,
    /// Why the agent's turn ended, in words, where it did not end it itself.
    pub(crate) end_note: Option<String>,
    pub(crate) work: Option<Digest>,
    pub(crate) left_out: u64,
    /// What the task's sandboxes are shown.
    pub(crate) programs: Option<Arc<Programs>>,
    /// Bytes of pictures that were kept.
    pictures: u64,
    agent: Duration,
    environment: Duration,
    /// Who has been spending time since when.
    spending: Option<(Spender, Duration)>,
}

impl Attempt {
    pub(crate) fn new(table: &Arc<Table>, job: Job) -> Self {
        let clock: Arc<dyn Clock> = Arc::clone(&table.clock);
        let mut recorder =
            Recorder::new(&table.writer, clock, &job.task.id, job.epoch, job.attempt);
        // An agent may come upon a key of ours in files of its user.
        recorder.clean_by(Scrubber::scrubbed);
        let models = Models::new(&job.task.limits, &table.account);
        let trial = job.trial();
        let so_far = SoFar::of(&mut recorder, &table.watch, &trial, &job.task);
        Self {
            table: Arc::clone(table),
            trial,
            job,
            recorder,
            so_far,
            models,
            steps: 0,
            end: None,
            halt: Halt::default(),
            end_note: None,
            work: None,
            left_out: 0,
            programs: None,
            pictures: 0,
            agent: Duration::ZERO,
            environment: Duration::ZERO,
            spending: None,
        }
    }

    pub(crate) fn task(&self) -> &Task {
        &self.job.task
    }

    /// Appends to the record. Evidence that can't be written is a fault.
    pub(crate) fn record(
        &mut self,
        source: Source,
        cause: Option<u64>,
        body: EventBody,
    ) -> Result<u64, Fault> {
        self.recorder
            .record(source, cause, body)
            .map_err(|error| evidence_lost(&error))
    }

    /// Records which models were asked since the last time.
    pub(crate) fn record_calls(&mut self, cause: Option<u64>) -> io::Result<()> {
        let writer = &self.table.writer;
        self.models.record(cause, writer, &mut self.recorder)
    }

    pub(crate) fn enter(&mut self, phase: Phase) -> Result<(), Fault> {
        self.table.watch.phase(&self.trial, phase);
        self.record(Source::Harness, None, EventBody::Phase(phase))?;
        if phase == Phase::Running {
            let instruction = self.task().instruction.show().clone();
            self.record(Source::User, None, EventBody::Instruction(instruction))?;
        }
        Ok(())
    }

    /// Records how the agent's turn ended, and why: in a note that the end is the cause of, which tells it from
    /// all others.
    pub(crate) fn turn_ended(&mut self, end: TurnEnd) -> Result<(), Fault> {
        self.end = Some(end);
        let at = self.record(Source::Harness, None, EventBody::End(end))?;
        if let Some(note) = self.end_note.clone() {
            self.record(Source::Harness, Some(at), EventBody::Note(note))?;
        }
        Ok(())
    }

    /// Stores what an observation draws. Whatever is over the limit of what is kept is left out, which the
    /// agent is told.
    pub(crate) fn keep_pictures(&mut self, seen: &mut Observation) -> Result<(), Fault> {
        let most = self.task().limits.output;
        let mut left_out = 0;
        for picture in mem::take(&mut seen.pictures) {
            let sum = self.pictures.saturating_add(picture.bytes);
            if sum > most.0 {
                left_out += 1;
                continue;
            }
            let kept = self.table.writer.keep_picture(&picture);
            kept.map_err(|error| evidence_lost(&error))?;
            self.pictures = sum;
            seen.pictures.push(picture);
        }
        if left_out > 0 {
            let note = format!(
                "\n[pictures left out: {left_out}; those of one task may come to {most} together]"
            );
            seen.text += &note;
        }
        Ok(())
    }

    /// Awaits `work` and books its time on `spender`.
    pub(crate) async fn timed<T>(&mut self, spender: Spender, work: impl Future<Output = T>) -> T {
        let began = self.begin(spender);
        let value = work.await;
        self.book(spender, began);
        value
    }

    /// From here on time goes on `spender`, until it is booked.
    pub(crate) fn begin(&mut self, spender: Spender) -> Duration {
        let began = self.table.clock.monotonic();
        self.spending = Some((spender, began));
        began
    }

    /// Books what nobody waited for to its end.
    pub(crate) fn book_unfinished(&mut self) {
        if let Some((spender, began)) = self.spending.take() {
            self.book(spender, began);
        }
    }

    pub(crate) fn book(&mut self, spender: Spender, began: Duration) {
        self.spending = None;
        let spent = self.table.clock.monotonic().saturating_sub(began);
        match spender {
            Spender::Agent => self.agent += spent,
            Spender::Environment => self.environment += spent,
        }
    }

    pub(crate) fn graded(mut self, verdict: &Verdict) -> io::Result<TrialLine> {
        self.record_calls(None)?;
        self.close(Ok(verdict))
    }

    pub(crate) fn faulted(mut self, fault: Fault) -> io::Result<TrialLine> {
        self.record_calls(None)?;
        // Otherwise it is told with the end.
        if let (None, Some(note)) = (self.end, self.end_note.clone()) {
            let body = EventBody::Note(note);
            self.recorder.record(Source::Harness, None, body)?;
        }
        self.recorder
            .record(Source::Harness, None, EventBody::Fault(fault.clone()))?;
        self.close(Err(&fault))
    }

    /// Whether it is final is said by whoever knows of other attempts.
    fn close(self, result: Result<&Verdict, &Fault>) -> io::Result<TrialLine> {
        let total = self.recorder.elapsed();
        let harness = total
            .saturating_sub(self.agent)
            .saturating_sub(self.environment);
        let at = self.table.clock.now();
        // A check may say what it found, which may be a key of ours.
        let clean = result.map(cleaned).map_err(cleaned);
        let result = clean.as_ref();
        let verdict = result.ok();
        let events = self.recorder.finish(verdict)?;
        let Job { attempt, key, .. } = self.job;
        let line = TrialLine::new(self.trial, attempt, result, events, key, at);
        Ok(TrialLine {
            is_final: false,
            end: self.end,
            steps: self.steps,
            seconds: TimeSplit {
                agent: micros(self.agent),
                environment: micros(self.environment),
                harness: micros(harness),
            },
            usage: self.models.usage(),
            judge: self.models.usage_of_judge(),
            retried: self.job.retried,
            rerun: self.job.rerun,
            elsewhere: self.table.agents.elsewhere().is_some(),
            reason: verdict.map_or_else(String::new, |verdict| {
                Scrubber::scrub(&reason(verdict, self.end_note.as_deref()))
            }),
            work: self.work,
            left_out: self.left_out,
            ..line
        })
    }
}

/// The same without any key.
fn cleaned<T: Clone + Serialize + DeserializeOwned>(said: &T) -> T {
    let written = serde_json::to_string(said).ok();
    let clean = written.and_then(|text| Scrubber::scrubbed(&text));
    let read = clean.and_then(|text| serde_json::from_str(&text).ok());
    read.unwrap_or_else(|| said.clone())
}

/// Seconds, to the microsecond.
fn micros(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}

pub(crate) fn evidence_lost(error: &io::Error) -> Fault {
    Fault::new(
        FaultClass::Evidence,
        format_args!("can't write the record: {error}"),
    )
}

/// Why a trial did not pass, in one line of bounded length: how the agent's turn ended, if not by
/// itself, and the first check that failed.
pub(crate) fn reason(verdict: &Verdict, end_note: Option<&str>) -> String {
    let Some(failed) = first_failed(&verdict.checks) else {
        return String::new();
    };
    let found = format!("{}: {}", failed.check, failed.reason);
    // A check that failed by how the turn ended says it already.
    let text = match end_note.filter(|note| *note != failed.reason) {
        Some(note) => format!("{}; {found}", note.chars().take(300).collect::<String>()),
        None => found,
    };
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let text: String = plain.take(500).collect();
    text.trim().to_owned()
}

/// A part of a combined check says more than the whole.
fn first_failed(checks: &[CheckResult]) -> Option<&CheckResult> {
    let failed = checks.iter().find(|check| !check.passed)?;
    first_failed(&failed.parts).or(Some(failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, passed: bool, parts: Vec<CheckResult>) -> CheckResult {
        CheckResult {
            parts,
            ..CheckResult::plain(name, passed, "found\nnothing")
        }
    }

    #[test]
    fn the_reason_names_the_part_that_failed_and_how_the_turn_ended() {
        let parts = vec![check("one", true, vec![]), check("two", false, vec![])];
        let checks = vec![check("fine", true, vec![]), check("all", false, parts)];
        let verdict = Verdict {
            passed: false,
            score: 0.0,
            checks,
        };
        assert_eq!(reason(&verdict, None), "two: found nothing");
        let ended = reason(&verdict, Some("the agent crashed: exit status 2"));
        assert_eq!(
            ended,
            "the agent crashed: exit status 2; two: found nothing"
        );
    }
}
