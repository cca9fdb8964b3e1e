//! What is already done in a run folder: read once when a run is planned or resumed. Reads only the
//! few fields it needs, because a resume over 100,000 trials must be quick.

use std::collections::{HashMap, HashSet};

use agon_core::FaultClass;
use agon_core::verdict::Outcome;
use serde::Deserialize;

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::lines;
use crate::stored::TrialLine;

/// The last word about a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latest {
    /// Highest attempt number so far.
    pub attempt: u32,
    /// The outcome of the final attempt, if there is one.
    pub outcome: Option<Outcome>,
    /// The final attempt faulted in a way that another try could mend.
    pub retryable: bool,
}

#[derive(Debug, Default)]
pub struct Progress {
    /// By task (`category/id`), then by epoch.
    tasks: HashMap<String, HashMap<u32, Latest>>,
    /// A torn last line was found: the attempt it belonged to does not count.
    pub torn: bool,
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
        let torn = lines::for_each(&path, |at, line| match serde_json::from_slice(line) {
            Ok(peek) => progress.add(&peek),
            Err(error) if broken.is_none() => broken = Some(format!("byte {at}: {error}")),
            Err(_) => {}
        });
        progress.torn = torn.map_err(StoreError::io("can't read", &path))?;
        match broken {
            Some(message) => Err(StoreError::Broken { path, message }),
            None => Ok(progress),
        }
    }

    fn add(&mut self, peek: &Peek<'_>) {
        if !self.tasks.contains_key(peek.task.as_ref()) {
            self.tasks
                .insert(peek.task.clone().into_owned(), HashMap::new());
        }
        if let Some(epochs) = self.tasks.get_mut(peek.task.as_ref()) {
            let latest = epochs.entry(peek.epoch).or_insert(Latest { attempt: 0, outcome: None, retryable: false });
            latest.attempt = latest.attempt.max(peek.attempt);
            if peek.is_final {
                latest.outcome = Some(peek.outcome);
                latest.retryable = peek.fault.as_ref().is_some_and(|fault| fault.class.retryable());
            }
        }
    }

    pub fn of(&self, task: &str, epoch: u32) -> Option<Latest> {
        self.tasks.get(task)?.get(&epoch).copied()
    }

    /// How many trials have a final attempt.
    pub fn finished(&self) -> usize {
        self.tasks
            .values()
            .flat_map(HashMap::values)
            .filter(|l| l.outcome.is_some())
            .count()
    }
}

/// Takes the word `final` from the lines of chosen trials, before they are played again. Returns from
/// how many.
pub fn reopen(folder: &RunFolder, chosen: impl Fn(&str, u32) -> bool) -> Result<usize, StoreError> {
    rewrite(folder, chosen, &[])
}

/// Puts new final lines in the place of those that the same trials have.
pub fn supersede(folder: &RunFolder, lines: &[TrialLine]) -> Result<usize, StoreError> {
    let trials: HashSet<(String, u32)> = lines
        .iter()
        .map(|line| (line.task.to_string(), line.epoch))
        .collect();
    rewrite(
        folder,
        |task, epoch| trials.contains(&(task.to_owned(), epoch)),
        lines,
    )
}

/// The file is written anew beside the old one and takes its place in one step, so that a killed
/// process leaves the one or the other.
fn rewrite(
    folder: &RunFolder,
    reopened: impl Fn(&str, u32) -> bool,
    added: &[TrialLine],
) -> Result<usize, StoreError> {
    let path = folder.trials_file();
    let mut out = Vec::new();
    let mut count = 0;
    let mut failed = None;
    lines::for_each(&path, |at, line| {
        let kept = match serde_json::from_slice::<Peek<'_>>(line) {
            Ok(peek) if peek.is_final && reopened(&peek.task, peek.epoch) => {
                count += 1;
                without_final(line, &mut out)
            }
            Ok(_) => {
                out.extend_from_slice(line);
                Ok(())
            }
            Err(error) => Err(error),
        };
        out.push(b'\n');
        if let Err(error) = kept {
            failed = Some(format!("byte {at}: {error}"));
        }
    })
    .map_err(StoreError::io("can't read", &path))?;
    for line in added {
        if let Err(error) = serde_json::to_writer(&mut out, line) {
            failed = Some(error.to_string());
        }
        out.push(b'\n');
    }
    if let Some(message) = failed {
        return Err(StoreError::Broken { path, message });
    }
    if count > 0 || !added.is_empty() {
        crate::folder::write_whole(&path, &out)?;
    }
    Ok(count)
}

/// The same line with `"final": false`; what this version does not know stays.
fn without_final(line: &[u8], out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line)?;
    fields.insert("final".to_owned(), false.into());
    serde_json::to_writer(out, &fields)
}
