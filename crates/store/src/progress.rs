//! What is already done in a run folder: read once when a run is planned or resumed. Reads only the
//! few fields it needs, because a resume over 100,000 trials must be quick.

use std::collections::HashMap;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{Digest, FaultClass, Usage};
use serde::Deserialize;

use crate::begun::{self, BegunAttempt};
use crate::error::StoreError;
use crate::finals::Finals;
use crate::folder::RunFolder;
use crate::lines;
use crate::stored::TrialLine;
use crate::writer::{FINAL, PADDED_TRUE};

/// The last word about a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latest {
    /// Highest attempt number so far, of attempts that were begun and never ended, too.
    pub attempt: u32,
    /// The attempt that the final line's trial was played in; 0 without one.
    pub played_in: u32,
    /// The outcome of the final attempt, if there is one.
    pub outcome: Option<Outcome>,
    /// The final attempt faulted in a way that another try could mend.
    pub retryable: bool,
    /// The final attempt waits for nothing but a judge.
    pub unjudged: bool,
    /// What the final attempt left for grading it again.
    pub left: Left,
    /// Some attempt faulted: what marks the next one as retried.
    pub faulted_before: bool,
    /// What the last draw after the first verdict came to.
    pub redrawn: Option<Outcome>,
    /// Where the final line says that it is final.
    pub final_at: Option<u64>,
    /// The resume key of the final line: by which task and checks it was graded.
    pub key: Option<Digest>,
}

impl Latest {
    fn raise(&mut self, attempt: u32) {
        self.attempt = self.attempt.max(attempt);
    }
}

/// As much of a trial's evidence as its line tells of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// The agent had its turn.
    pub end: Option<TurnEnd>,
    pub elsewhere: bool,
    /// The working folder was kept.
    pub work: bool,
}

impl Left {
    pub fn of(line: &TrialLine) -> Self {
        Self {
            end: line.end,
            elsewhere: line.elsewhere,
            work: line.work.is_some(),
        }
    }
}

#[derive(Debug, Default)]
pub struct Progress {
    /// By task (`category/id`), then by epoch.
    tasks: HashMap<String, HashMap<u32, Latest>>,
    /// Final lines that a later one has replaced, left by a process that died in between.
    pub stale: Vec<u64>,
    /// Attempts that were begun and never ended.
    pub never_ended: Vec<BegunAttempt>,
    /// Steps and model usage of all attempts.
    pub steps: u64,
    pub usage: Usage,
}

#[derive(Deserialize)]
struct LineHead<'a> {
    #[serde(borrow)]
    task: std::borrow::Cow<'a, str>,
    epoch: u32,
    attempt: u32,
    #[serde(rename = "final")]
    is_final: bool,
    outcome: Outcome,
    #[serde(default)]
    fault: Option<PeekFault>,
    #[serde(default)]
    key: Option<Digest>,
    #[serde(default)]
    rerun: bool,
    #[serde(default)]
    regraded: bool,
    #[serde(default)]
    played_in: Option<u32>,
    #[serde(default)]
    end: Option<TurnEnd>,
    #[serde(default)]
    elsewhere: bool,
    #[serde(default)]
    work: Option<Digest>,
    #[serde(default)]
    steps: u32,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    judge: Usage,
}

#[derive(Deserialize)]
struct PeekFault {
    class: FaultClass,
}

impl Progress {
    pub fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let path = folder.trials_file();
        let mut progress = Self::default();
        let mut broken = None;
        let finals = Finals::read(&path).map_err(StoreError::io("can't read", &path))?;
        let read = lines::for_each(&path, |at, line| match serde_json::from_slice(line) {
            Ok(peek @ LineHead { .. }) => {
                let counts = finals.count(at, peek.is_final);
                progress.add(&peek, counts, final_value(line).map(|value| at + value));
            }
            Err(error) if broken.is_none() => broken = Some(format!("byte {at}: {error}")),
            Err(_) => {}
        });
        read.map_err(StoreError::io("can't read", &path))?;
        if let Some(message) = broken {
            return Err(StoreError::Broken { path, message });
        }
        let begun = begun::for_each(folder, |begun, line| {
            let trial = finals.hash(&begun.task, begun.epoch);
            if finals.has(trial, begun.attempt) {
                return;
            }
            let latest = progress.latest(&begun.task, begun.epoch);
            latest.raise(begun.attempt);
            progress.never_ended.extend(begun::parse(line));
        });
        begun.map_err(StoreError::io("can't read", &folder.begun_file()))?;
        Ok(progress)
    }

    fn latest(&mut self, task: &str, epoch: u32) -> &mut Latest {
        let epochs = self.tasks.entry(task.to_owned()).or_default();
        epochs.entry(epoch).or_default()
    }

    /// `counts`: it is what its trial came to, whatever it says of itself.
    fn add(&mut self, peek: &LineHead<'_>, counts: bool, final_at: Option<u64>) {
        if peek.regraded {
            // The rest was counted when it was played.
            self.usage += &peek.judge;
        } else {
            self.steps += u64::from(peek.steps);
            self.usage += &peek.usage;
        }
        let is_draw = peek.rerun && !peek.regraded;
        if peek.is_final && !counts && !is_draw {
            self.stale.extend(final_at);
        }
        let latest = self.latest(&peek.task, peek.epoch);
        latest.raise(peek.attempt);
        match peek.outcome {
            Outcome::Faulted => latest.faulted_before = true,
            Outcome::Passed | Outcome::Failed if is_draw => latest.redrawn = Some(peek.outcome),
            Outcome::Passed | Outcome::Failed => {}
        }
        if counts {
            latest.final_at = final_at;
            latest.key = peek.key;
            latest.played_in = peek.played_in.unwrap_or(peek.attempt);
            latest.outcome = Some(peek.outcome);
            let fault = |of: fn(FaultClass) -> bool| {
                peek.fault.as_ref().is_some_and(|fault| of(fault.class))
            };
            latest.retryable = fault(FaultClass::mendable);
            latest.unjudged = fault(FaultClass::unjudged);
            latest.left = Left {
                end: peek.end,
                elsewhere: peek.elsewhere,
                work: peek.work.is_some(),
            };
        }
    }

    pub fn of(&self, task: &str, epoch: u32) -> Option<Latest> {
        self.tasks.get(task)?.get(&epoch).copied()
    }
}

/// Where the value of `final` stands in a line, if the line says so of itself.
fn final_value(line: &[u8]) -> Option<u64> {
    // The task's name comes first and can't hold quotes, so that the first match is the key itself.
    let at = line.windows(FINAL.len()).position(|part| part == FINAL)?;
    Some((at + FINAL.len() - PADDED_TRUE.len()) as u64)
}
