//! The trials of a run that are up for review.

use std::collections::HashMap;

use agon_core::verdict::Outcome;
use agon_core::{Level, TaskId};
use agon_store::{Reviews, RunReader, TrialLine, played_in};

use super::args::ReviewArgs;
use crate::cli::failure::Failure;

#[derive(Debug)]
pub(super) struct Case {
    pub(super) line: TrialLine,
    pub(super) name: String,
    pub(super) level: Option<Level>,
}

impl Case {
    /// As reports name it.
    pub(super) fn label(&self) -> String {
        format!("{}#{}", self.line.task, self.line.epoch)
    }
}

/// What a filter asks of a trial.
struct Wanted<'a> {
    args: &'a ReviewArgs,
    task: Option<(TaskId, Option<u32>)>,
}

/// The trials that the arguments ask for, in the order of the run.
pub(super) fn cases(
    reader: &RunReader,
    reviews: &Reviews,
    args: &ReviewArgs,
) -> Result<Vec<Case>, Failure> {
    let wanted = Wanted {
        task: args.task.as_deref().map(trial_name).transpose()?,
        args,
    };
    let stamps: HashMap<&TaskId, _> = reader
        .manifest()
        .tasks
        .iter()
        .enumerate()
        .map(|(place, stamp)| (&stamp.task, (place, stamp)))
        .collect();
    let mut played: HashMap<(usize, u32, u32), TrialLine> = HashMap::new();
    reader.for_each_trial(|line| {
        let Some((place, _)) = stamps.get(&line.task) else {
            return;
        };
        // Graded again, it is still the same that was done; the line that counts stands for it.
        let key = (*place, line.epoch, played_in(&line));
        if line.is_final || !played.get(&key).is_some_and(|known| known.is_final) {
            played.insert(key, line);
        }
    })?;
    let mut lines: Vec<_> = played.into_iter().collect();
    lines.sort_by_key(|(key, _)| *key);
    let cases = lines
        .into_iter()
        .filter(|(_, line)| wanted.takes(line, reviews))
        .filter_map(|(_, line)| {
            let (_, stamp) = stamps.get(&line.task)?;
            Some(Case {
                name: stamp.name.clone(),
                level: stamp.level,
                line,
            })
        });
    Ok(cases.collect())
}

impl Wanted<'_> {
    fn takes(&self, line: &TrialLine, reviews: &Reviews) -> bool {
        let args = self.args;
        let named = self.task.as_ref().is_none_or(|(task, epoch)| {
            *task == line.task && epoch.is_none_or(|epoch| epoch == line.epoch)
        });
        let reviewed = reviews.verdict(line).is_some();
        named
            && (args.all || line.is_final)
            && !(args.unreviewed && reviewed)
            && (!args.failed || reviews.outcome(line) == Outcome::Failed)
            && (!args.disagreed || disagreed(line, reviews))
    }
}

/// Whether a person says something else than the checks, which say nothing where they could not decide.
pub(super) fn disagreed(line: &TrialLine, reviews: &Reviews) -> bool {
    line.outcome != Outcome::Faulted && reviews.outcome(line) != line.outcome
}

/// `category/id`, or `category/id#2`.
fn trial_name(text: &str) -> Result<(TaskId, Option<u32>), Failure> {
    let bad = || {
        Failure::new(format_args!(
            "--task {text}: write CATEGORY/ID, or CATEGORY/ID#EPOCH, such as desktop/open_editor#1"
        ))
    };
    let (task, epoch) = match text.split_once('#') {
        Some((task, epoch)) => (task, Some(epoch.parse().map_err(|_| bad())?)),
        None => (text, None),
    };
    Ok((TaskId::parse(task).map_err(|_| bad())?, epoch))
}
