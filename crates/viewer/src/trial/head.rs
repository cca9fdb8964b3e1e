//! Everything about an attempt but its steps: from its line where it has ended, from its record otherwise.

use agon_core::verdict::{CheckResult, Outcome, TurnEnd, Verdict};
use agon_core::{Digest, Fault, Seconds, TaskId, TimeSplit, Usage};
use agon_store::{Manifest, Reviews, RunningAttempt, TaskStamp, TrialLine, running, standing};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::record::Record;
use crate::error::ViewerError;
use crate::library::Run;
use crate::shape::{ReviewCard, State, TrialHead, TrialKey};

/// Results of checks that a page shows, and their bytes.
const MOST_CHECKS: usize = 1000;
const MOST_OF_CHECKS: usize = 16 << 20;

/// An attempt and what is known of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) task: TaskId,
    pub(super) line: Option<TrialLine>,
    pub(super) record: Option<Record>,
    /// Why there is no record where there should be one.
    pub(super) problem: Option<String>,
}

/// What the record of an attempt adds.
#[derive(Debug, Default)]
struct Told {
    steps: u32,
    acted: u32,
    duration: f64,
    screen: Option<(u32, u32)>,
    realtime: bool,
    began: Option<Timestamp>,
    end: Option<TurnEnd>,
    usage: Usage,
    instruction: Option<String>,
    answer: Option<String>,
    checks: Vec<CheckResult>,
    fault: Option<Fault>,
    problems: Vec<String>,
}

pub(super) fn head(run: &Run, key: &TrialKey, found: &Found) -> Result<TrialHead, ViewerError> {
    let manifest = run.manifest()?;
    let line = found.line.as_ref();
    let mut told = match &found.record {
        Some(record) => told(run, record),
        None => Told::default(),
    };
    told.problems.extend(found.problem.clone());
    let task = stamp(&manifest, found, &mut told.problems)?;
    let playing = line.is_none().then(|| playing(run, found, key)).flatten();
    let live = playing.is_some();
    if line.is_none() && found.record.is_some() && !live {
        told.problems.push(
            "The attempt never came to its end: it does not count, and is played again when the run goes on."
                .to_owned(),
        );
    }
    // As the list says it, so that the two never differ.
    let row = run.row(key)?;
    let review = match line {
        Some(line) => review(&*run.reviews()?, line),
        None => ReviewCard::default(),
    };
    let state = match (&row, line) {
        (Some(row), Some(_)) => row.state,
        (None, Some(line)) => outcome_state(line.outcome),
        (_, None) if live => State::Running,
        (_, None) => State::Missing,
    };
    let row = row.filter(|_| line.is_some());
    // As everybody is told while it is played: who asks for its end names it by that.
    let began = playing.map(|attempt| attempt.began).or(told.began);
    Ok(TrialHead {
        run: run.id().to_owned(),
        key: key.clone(),
        task,
        state,
        checks_say: line.map(|line| line.outcome),
        checks_score: line
            .filter(|line| line.outcome != Outcome::Faulted)
            .map(|line| line.score.clamp(0.0, 1.0)),
        score: row.as_ref().and_then(|row| row.score),
        measured: row.as_ref().and_then(|row| row.measured),
        fault: line.and_then(|line| line.fault.clone()).or(told.fault),
        end: line.and_then(|line| line.end).or(told.end),
        seconds: line.map_or_else(TimeSplit::default, |line| line.seconds),
        usage: line.map_or(told.usage, |line| line.usage.clone()),
        judge_usage: line.map_or_else(Usage::default, |line| line.judge.clone()),
        flags: row.as_ref().map_or_else(Vec::new, |row| row.flags.clone()),
        integrity: line.and_then(|line| line.integrity.clone()),
        why: row.map_or_else(String::new, |row| row.why),
        instruction: told.instruction,
        answer: told.answer,
        checks: told.checks,
        // Of an attempt that has ended, as everywhere else.
        steps: line.map_or(told.steps, |line| line.steps),
        acted: told.acted,
        duration: told.duration,
        screen: told.screen,
        realtime: told.realtime,
        live,
        began,
        attempts: run.attempts(&key.task, key.epoch)?,
        review,
        problems: told
            .problems
            .into_iter()
            .map(|problem| run.told(problem))
            .collect(),
    })
}

fn outcome_state(outcome: Outcome) -> State {
    match outcome {
        Outcome::Passed => State::Passed,
        Outcome::Failed => State::Failed,
        Outcome::Faulted => State::Faulted,
    }
}

/// The attempt in the list of those that are being played.
fn playing(run: &Run, found: &Found, key: &TrialKey) -> Option<RunningAttempt> {
    let folder = run.folder();
    if !folder.is_written() {
        return None;
    }
    let (attempts, _) = running(folder, 0).ok()?;
    attempts.into_iter().rev().find(|attempt| {
        attempt.task == found.task && attempt.epoch == key.epoch && attempt.attempt == key.attempt
    })
}

/// The task as it was planned.
fn stamp(
    manifest: &Manifest,
    found: &Found,
    problems: &mut Vec<String>,
) -> Result<TaskStamp, ViewerError> {
    let planned = manifest.tasks.iter().find(|task| task.task == found.task);
    match (planned, &found.line) {
        (Some(task), _) => Ok(task.clone()),
        (None, Some(line)) => {
            problems.push("The plan of the run has no such task.".to_owned());
            Ok(TaskStamp {
                task: line.task.clone(),
                name: line.task.id().to_owned(),
                level: None,
                weight: 1.0,
                steps: 0,
                seconds: Seconds::millis(0),
                environment: String::new(),
                network: false,
                image: None,
                key: line.key,
                played: Digest::of(b""),
            })
        }
        (None, None) => Err(ViewerError::NotFound(format!(
            "the run has no task {}",
            found.task
        ))),
    }
}

fn told(run: &Run, record: &Record) -> Told {
    let mut problems = record.problems(run.folder());
    let (mut told, instruction, answer, verdict, checks, fault) = {
        let kept = record.kept();
        let outline = &kept.outline;
        let told = Told {
            steps: outline.steps(),
            acted: outline.acted(),
            duration: outline.duration,
            screen: outline.size,
            realtime: outline.realtime,
            began: outline.first_at.as_ref().and_then(|(at, t)| {
                let at: Timestamp = at.parse().ok()?;
                let since = SignedDuration::try_from_secs_f64(*t).ok()?;
                at.checked_sub(since).ok()
            }),
            end: outline
                .end
                .as_ref()
                .and_then(|end| serde_json::from_value(Value::String(end.clone())).ok()),
            usage: outline.usage.clone(),
            ..Told::default()
        };
        (
            told,
            outline.instruction,
            outline.answer,
            outline.verdict,
            outline.checks.clone(),
            outline.fault,
        )
    };
    let instruction: Option<Instruction> = record.part(instruction);
    told.instruction = instruction.map(|told| told.instruction);
    let answer: Option<Answer> = record.part(answer);
    told.answer = answer.map(|told| told.action.result);
    told.fault = record.part(fault).map(|Failed { fault }| fault);
    let judged: Option<Judged> = record.part(verdict);
    if verdict.is_some() && judged.is_none() {
        problems.push("The verdict of the record can't be read.".to_owned());
    }
    told.checks = match judged {
        Some(Judged { verdict }) => verdict.checks,
        None => checked(record, &checks, &mut problems),
    };
    told.problems = problems;
    told
}

#[derive(Deserialize)]
struct Instruction {
    instruction: String,
}

#[derive(Deserialize)]
struct Answer {
    action: Finish,
}

#[derive(Deserialize)]
struct Finish {
    result: String,
}

#[derive(Deserialize)]
struct Failed {
    fault: Fault,
}

#[derive(Deserialize)]
struct Judged {
    verdict: Verdict,
}

#[derive(Deserialize)]
struct Checked {
    check: CheckResult,
}

/// The results of single checks, where there is no verdict yet.
fn checked(record: &Record, checks: &[u32], problems: &mut Vec<String>) -> Vec<CheckResult> {
    let mut room = MOST_OF_CHECKS;
    let mut found = Vec::new();
    let mut left_out = 0;
    for event in checks {
        let bytes = record.spot(*event).map_or(0, |spot| spot.bytes as usize);
        if found.len() >= MOST_CHECKS || bytes > room {
            left_out += 1;
            continue;
        }
        room -= bytes;
        found.extend(record.part(Some(*event)).map(|Checked { check }| check));
    }
    if left_out > 0 {
        problems.push(format!(
            "Results of checks that are too many or too long to be shown: {left_out}."
        ));
    }
    found
}

fn review(reviews: &Reviews, line: &TrialLine) -> ReviewCard {
    let history = reviews.history(line);
    ReviewCard {
        // What was said about an attempt that was played again decides nothing.
        standing: standing(history).filter(|_| line.is_final).cloned(),
        history: history.to_vec(),
        possible: line.is_final,
    }
}
