//! What is already done in a run folder: read once when a run is planned or resumed. Reads only the
//! few fields it needs, because a resume over 100,000 trials must be quick.

use std::collections::HashMap;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{Digest, FaultClass, Usage};
use serde::Deserialize;

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::lines;
use crate::stored::TrialLine;
use crate::writer::{FINAL, PADDED_TRUE};

/// The last word about a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latest {
    /// Highest attempt number so far.
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
    /// Some attempt was graded, some faulted: what marks the next one as rerun or retried.
    pub graded_before: bool,
    pub faulted_before: bool,
    /// Where the final line says that it is final.
    pub final_at: Option<u64>,
    /// The resume key of the final line: by which task and checks it was graded.
    pub key: Option<Digest>,
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
    /// Steps and model usage of all attempts.
    pub steps: u64,
    pub usage: Usage,
}

#[derive(Deserialize)]
struct Peek<'a> {
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
        let read = lines::for_each(&path, |at, line| match serde_json::from_slice(line) {
            Ok(peek) => progress.add(&peek, final_value(line).map(|value| at + value)),
            Err(error) if broken.is_none() => broken = Some(format!("byte {at}: {error}")),
            Err(_) => {}
        });
        read.map_err(StoreError::io("can't read", &path))?;
        match broken {
            Some(message) => Err(StoreError::Broken { path, message }),
            None => Ok(progress),
        }
    }

    fn add(&mut self, peek: &Peek<'_>, final_at: Option<u64>) {
        if peek.regraded {
            // The rest was counted when it was played.
            self.usage += &peek.judge;
        } else {
            self.steps += u64::from(peek.steps);
            self.usage += &peek.usage;
        }
        if !self.tasks.contains_key(peek.task.as_ref()) {
            self.tasks
                .insert(peek.task.clone().into_owned(), HashMap::new());
        }
        if let Some(epochs) = self.tasks.get_mut(peek.task.as_ref()) {
            let latest = epochs.entry(peek.epoch).or_default();
            latest.attempt = latest.attempt.max(peek.attempt);
            match peek.outcome {
                Outcome::Faulted => latest.faulted_before = true,
                Outcome::Passed | Outcome::Failed => latest.graded_before = true,
            }
            if peek.is_final {
                self.stale.extend(latest.final_at);
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
