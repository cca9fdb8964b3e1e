//! What is left to do: the plan minus what the run folder holds already.

use std::collections::HashMap;

use agon_core::verdict::Outcome;
use agon_core::{Digest, Task, TaskId, Usage};
use agon_store::{
    Latest, Progress, Reviews, RunFolder, RunWriter, StoreError, abandoned, standing,
};
use agon_suite::Plan;

use crate::attempt::Job;
use crate::regrade::has_evidence;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Everything that was not graded yet, by checks or by a person.
    #[default]
    RunAll,
    /// The same, and a further draw of what failed, which stands beside the first verdict; a person is
    /// believed before the checks.
    RerunFailed,
    /// Nothing is played: what there is, is graded again.
    ValidateOnly,
}

/// What is to be done with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub mode: Mode,
    /// There is somebody to ask about prose.
    pub judge: bool,
}

#[derive(Debug)]
pub struct Selected<'a> {
    plan: &'a Plan,
    progress: Progress,
    reviews: Reviews,
    asked: Asked,
    /// Usage of attempts that were never finished.
    lost: Usage,
    /// Trials to play.
    pub left: u64,
    /// Trials that stay as they are.
    pub done: u64,
}

/// Reads what is done, and mends what a process that died in between has left: of two final lines of
/// a trial the later one counts.
pub(crate) fn mend(writer: &RunWriter) -> Result<Progress, StoreError> {
    let folder = writer.folder();
    let progress = Progress::read(folder)?;
    for at in &progress.stale {
        let path = folder.trials_file();
        writer
            .withdraw(*at)
            .map_err(StoreError::io("can't mend", &path))?;
    }
    Ok(progress)
}

/// What is left of a plan.
pub fn select<'a>(
    writer: &RunWriter,
    plan: &'a Plan,
    asked: Asked,
) -> Result<Selected<'a>, StoreError> {
    let folder = writer.folder();
    let progress = mend(writer)?;
    let keys = keys(plan);
    let mut selected = Selected {
        plan,
        progress,
        reviews: Reviews::read(folder)?,
        asked,
        lost: Usage::default(),
        left: 0,
        done: 0,
    };
    for begun in &selected.progress.never_ended {
        let lost = abandoned(folder, &begun.task, begun.epoch, begun.attempt)?;
        selected.lost += &lost;
    }
    for trial in plan.trials() {
        let name = trial.task.id.to_string();
        let latest = selected.progress.of(&name, trial.epoch);
        // Left by grading again that was stopped: half of the verdicts are by other checks.
        if let Some(key) = latest.and_then(|latest| latest.key)
            && keys
                .get(&trial.task.id)
                .is_some_and(|planned| *planned != key)
        {
            return Err(StoreError::Broken {
                path: folder.trials_file(),
                message: format!(
                    "{name}#{} was graded by other checks: run the same command with --mode \
                     validate-only first",
                    trial.epoch
                ),
            });
        }
        let said =
            latest.and_then(|latest| said(&selected.reviews, &trial.task.id, trial.epoch, latest));
        match latest {
            Some(latest) if !open(&trial.task, latest, said, asked) => selected.done += 1,
            // Written by something else, it has no room for the word to be taken back.
            Some(latest)
                if latest.outcome.is_some()
                    && latest.final_at.is_none()
                    && !graded(latest, said) =>
            {
                return Err(StoreError::Broken {
                    path: folder.trials_file(),
                    message: format!("the final line of {name}#{} was rewritten", trial.epoch),
                });
            }
            latest => {
                selected.left += 1;
                // An older version did not say which attempts it had begun.
                let next = latest.map_or(0, |latest| latest.attempt) + 1;
                let lost = abandoned(folder, &trial.task.id, trial.epoch, next)?;
                selected.lost += &lost;
            }
        }
    }
    Ok(selected)
}

/// The resume key of each task.
pub(crate) fn keys(plan: &Plan) -> HashMap<&TaskId, Digest> {
    let tasks = plan.tasks().iter();
    tasks.map(|task| (&task.id, plan.key(task))).collect()
}

/// What a person says about the attempt that counts. What was said about earlier ones stays with them.
fn said(reviews: &Reviews, task: &TaskId, epoch: u32, latest: Latest) -> Option<Outcome> {
    let review = standing(reviews.of(task, epoch, latest.played_in))?;
    review.verdict.outcome()
}

/// Whether there is a verdict, by checks or by a person.
fn graded(latest: Latest, said: Option<Outcome>) -> bool {
    said.or(latest.outcome)
        .is_some_and(|is| is != Outcome::Faulted)
}

/// Whether a trial that has been tried is to be played (again).
fn open(task: &Task, latest: Latest, said: Option<Outcome>, asked: Asked) -> bool {
    let rerun = asked.mode == Mode::RerunFailed;
    // A judge has come too late for these: there is nothing left that could be shown to it.
    let missed = || asked.judge && latest.unjudged && !has_evidence(task, latest.left);
    match latest.outcome.map(|graded| said.unwrap_or(graded)) {
        None => true,
        Some(Outcome::Passed) => false,
        // What passed in a later draw has shown what it was played again for.
        Some(Outcome::Failed) => rerun && latest.redrawn != Some(Outcome::Passed),
        Some(Outcome::Faulted) => rerun || latest.retryable || missed(),
    }
}

/// How many trials of each task a mode would take, of a run folder that is only looked at: to be played, or,
/// where nothing is played, to be graded again.
pub fn preview(
    folder: &RunFolder,
    tasks: &[Task],
    epochs: u32,
    asked: Asked,
) -> Result<Vec<u32>, StoreError> {
    let progress = Progress::read(folder)?;
    let reviews = Reviews::read(folder)?;
    let takes = |task: &Task, name: &str, epoch: u32| match progress.of(name, epoch) {
        Some(latest) if asked.mode == Mode::ValidateOnly => latest.outcome.is_some(),
        Some(latest) => {
            let said = said(&reviews, &task.id, epoch, latest);
            open(task, latest, said, asked)
        }
        None => asked.mode != Mode::ValidateOnly,
    };
    let count = |task: &Task| {
        let name = task.id.to_string();
        let taken = (1..=epochs).filter(|epoch| takes(task, &name, *epoch));
        u32::try_from(taken.count()).unwrap_or(u32::MAX)
    };
    Ok(tasks.iter().map(count).collect())
}

impl Selected<'_> {
    /// Steps and usage of all attempts so far, apart from [`Self::lost`].
    pub fn spent(&self) -> (u64, &Usage) {
        (self.progress.steps, &self.progress.usage)
    }

    /// What attempts that were never finished have used, as far as it was written down.
    pub fn lost(&self) -> &Usage {
        &self.lost
    }

    pub fn jobs(&self) -> impl Iterator<Item = Job> {
        let keys = keys(self.plan);
        self.plan.trials().filter_map(move |trial| {
            let latest = self.progress.of(&trial.task.id.to_string(), trial.epoch);
            let said =
                latest.and_then(|latest| said(&self.reviews, &trial.task.id, trial.epoch, latest));
            if latest.is_some_and(|latest| !open(&trial.task, latest, said, self.asked)) {
                return None;
            }
            Some(Job {
                key: *keys.get(&trial.task.id)?,
                task: trial.task,
                epoch: trial.epoch,
                attempt: latest.map_or(0, |latest| latest.attempt) + 1,
                seed: trial.seed,
                rerun: latest.is_some_and(|latest| graded(latest, said)),
                retried: latest.is_some_and(|latest| latest.faulted_before),
                replaces: latest
                    .filter(|latest| !graded(*latest, said))
                    .and_then(|latest| latest.final_at),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use agon_core::verdict::TurnEnd;
    use agon_core::{Environment, EnvironmentKind};
    use agon_store::Left;

    use super::*;

    fn task() -> Task {
        let id = TaskId::parse("a/b").unwrap();
        Task::plain(id, "", Environment::of_kind(EnvironmentKind::Local))
    }

    #[test]
    fn what_can_be_judged_by_nothing_that_is_left_is_played_again() {
        let mut latest = Latest {
            attempt: 1,
            outcome: Some(Outcome::Faulted),
            unjudged: true,
            left: Left {
                end: Some(TurnEnd::Finished),
                ..Left::default()
            },
            ..Latest::default()
        };
        let mode = Mode::RunAll;
        let found = |latest, judge| open(&task(), latest, None, Asked { mode, judge });
        assert!(found(latest, true));
        assert!(!found(latest, false), "nobody could judge it then either");
        latest.left.work = true;
        assert!(!found(latest, true));
        latest.left = Left {
            elsewhere: true,
            work: false,
            ..latest.left
        };
        assert!(!found(latest, true), "all that was told is there");
    }

    #[test]
    fn what_is_played_again() {
        let latest = |outcome, retryable| Latest {
            attempt: 1,
            outcome,
            retryable,
            ..Latest::default()
        };
        let (passed, failed) = (Some(Outcome::Passed), Some(Outcome::Failed));
        let faulted = Some(Outcome::Faulted);
        for (latest, said, run_all, rerun) in [
            (latest(None, false), None, true, true),
            (latest(passed, false), None, false, false),
            (latest(failed, false), None, false, true),
            (latest(faulted, true), None, true, true),
            (latest(faulted, false), None, false, true),
            // Whatever the checks say, and whether they could say anything.
            (latest(passed, false), failed, false, true),
            (latest(failed, false), passed, false, false),
            (latest(faulted, true), passed, false, false),
            (latest(faulted, true), failed, false, true),
            (latest(None, false), passed, true, true),
        ] {
            let found = |mode| open(&task(), latest, said, Asked { mode, judge: true });
            assert_eq!(found(Mode::RunAll), run_all, "{latest:?} {said:?}");
            assert_eq!(found(Mode::RerunFailed), rerun, "{latest:?} {said:?}");
        }
    }
}
