//! The manifest as a promise: going on with a run means the same run, and grading again means the
//! same play. Says in words what differs.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use agon_core::verdict::Outcome;
use agon_core::{Digest, Task, TaskId};
use agon_engine::Mode;
use agon_store::{JudgeStamp, Manifest, Progress, RunFolder, TaskStamp};
use agon_suite::{AgentIdentity, Facts, SuiteFacts, TaskFacts, difference};
use agon_testcase::results::IMPORTED;

use super::failure::Failure;
use super::model_stamp;
use super::report::RUNS;

/// Whether a run can get further tasks later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// What was to be played is part of what its numbers mean.
    Fixed,
    /// Instances of a benchmark come as they are asked for.
    Open,
}

/// A new run's manifest is written before its first trial; an old one must say the same.
pub(super) fn settle(
    folder: &RunFolder,
    old: Option<&Manifest>,
    new: &Manifest,
    mode: Mode,
    growth: Growth,
) -> Result<(), Failure> {
    let path = folder.path().display();
    let Some(old) = old else {
        if folder.has_manifest() {
            return Err(Failure::new(format_args!(
                "another agon began a run in {path} just now: run the same command again to go on \
                 with it"
            )));
        }
        if mode == Mode::ValidateOnly {
            return Err(Failure::new(format_args!(
                "{path} holds no run to grade again"
            )));
        }
        folder.write_manifest(new)?;
        if folder
            .path()
            .parent()
            .is_some_and(|parent| parent.ends_with(RUNS))
        {
            folder.mark_latest();
        }
        return Ok(());
    };
    // A judge that comes later has no other's verdicts beside its own.
    let judge = new.judge.as_ref().filter(|_| old.judge.is_none());
    let judge = judge.filter(|_| mode != Mode::ValidateOnly).cloned();
    let mut grown = (growth == Growth::Open && mode != Mode::ValidateOnly).then(|| grown(old, new));
    if judge.is_some() {
        grown
            .get_or_insert_with(|| old.clone())
            .judge
            .clone_from(&judge);
    }
    // In a run that can grow, only tasks that both know can differ.
    let (old, new) = match growth {
        Growth::Fixed => (Cow::Borrowed(old), Cow::Borrowed(new)),
        Growth::Open => (Cow::Owned(among(old, new)), Cow::Owned(among(new, old))),
    };
    let (old, new) = (old.as_ref(), new.as_ref());
    let mut differences = match mode {
        // Another system played it: there is nothing of ours that could have changed.
        Mode::ValidateOnly if is_imported(old) => return Ok(()),
        // Other checks are the point of grading again; what was played stays what it was.
        Mode::ValidateOnly => difference(&played_facts(old), &played_facts(new)),
        _ => {
            let mut lines = difference(&facts(old), &facts(new));
            lines.extend(model_stamp::differences(old, new));
            if judge.is_none() {
                lines.extend(model_stamp::judges(old, new, &path.to_string()));
            }
            lines.extend(programs(old, new));
            lines
        }
    };
    differences.extend(images(old, new));
    if differences.is_empty() {
        if let Some(grown) = grown {
            folder.write_manifest(&grown)?;
        }
        return Ok(());
    }
    Err(Failure::new(format_args!(
        "{path} holds another run; choose another --out, or undo what differs:\n  {}",
        differences.join("\n  ")
    )))
}

/// Made of results of another system, whoever has graded them since.
fn is_imported(manifest: &Manifest) -> bool {
    manifest.checkers.starts_with(IMPORTED)
}

/// A manifest without the tasks that another one does not have.
fn among(manifest: &Manifest, other: &Manifest) -> Manifest {
    let mut same = manifest.clone();
    let known = ids(other);
    same.tasks.retain(|stamp| known.contains(&stamp.task));
    same
}

fn ids(manifest: &Manifest) -> HashSet<&TaskId> {
    manifest.tasks.iter().map(|stamp| &stamp.task).collect()
}

/// The old run with the tasks that are new in it.
fn grown(old: &Manifest, new: &Manifest) -> Manifest {
    let mut all = old.clone();
    let known = ids(old);
    let unknown = |stamp: &&TaskStamp| !known.contains(&stamp.task);
    all.tasks.extend(new.tasks.iter().filter(unknown).cloned());
    all.programs.extend(new.programs.clone());
    all.plan = all.plan_digest();
    all
}

/// What was graded again has the checks of now: the manifest says so from now on.
pub(super) fn regraded(
    folder: &RunFolder,
    old: &Manifest,
    new: &Manifest,
    judge: Option<JudgeStamp>,
) -> Result<(), Failure> {
    let mut manifest = old.clone();
    manifest.suites.clone_from(&new.suites);
    manifest.tasks = match is_imported(old) {
        // The suite may have more than what was imported.
        true => among(new, old).tasks,
        false => new.tasks.clone(),
    };
    manifest.checkers = match is_imported(old) {
        true => format!("{IMPORTED}, {}", new.checkers),
        false => new.checkers.clone(),
    };
    manifest.judge = judge;
    manifest.plan = manifest.plan_digest();
    folder.write_manifest(&manifest)?;
    Ok(())
}

/// Grading again did not come to its end: what was played, and by which checks it is graded, stays as it was.
pub(super) fn judged(
    folder: &RunFolder,
    old: &Manifest,
    judge: Option<JudgeStamp>,
) -> Result<(), Failure> {
    let manifest = Manifest {
        judge,
        ..old.clone()
    };
    folder.write_manifest(&manifest)?;
    Ok(())
}

/// The final lines of trials that a judge has to do with, before they are graded again.
#[derive(Debug)]
pub(super) struct Judgements(Vec<(String, u32, Option<u64>)>);

impl Judgements {
    pub(super) fn of(
        folder: &RunFolder,
        tasks: &[Arc<Task>],
        epochs: u32,
    ) -> Result<Self, Failure> {
        let progress = Progress::read(folder)?;
        let tasks = tasks.iter().filter(|task| task.needs_judge());
        let trials = tasks.flat_map(|task| {
            let name = task.id.to_string();
            (1..=epochs).map(move |epoch| (name.clone(), epoch))
        });
        let found = trials.map(|(name, epoch)| {
            let at = progress.of(&name, epoch).and_then(|last| last.final_at);
            (name, epoch, at)
        });
        Ok(Self(found.collect()))
    }

    /// Whose verdicts the run holds now: a judge that failed has not judged it.
    pub(super) fn judge(
        &self,
        folder: &RunFolder,
        old: &Manifest,
        new: &Manifest,
    ) -> Result<Option<JudgeStamp>, Failure> {
        let progress = Progress::read(folder)?;
        let (mut by_old, mut by_new) = (0, 0);
        for (name, epoch, at) in &self.0 {
            let Some(latest) = progress.of(name, *epoch) else {
                continue;
            };
            match latest.outcome {
                None | Some(Outcome::Faulted) => {}
                Some(_) if latest.final_at == *at => by_old += 1,
                Some(_) => by_new += 1,
            }
        }
        Ok(match (&old.judge, &new.judge) {
            (None, new) => new.clone(),
            (_, new) if by_old == 0 => new.clone(),
            (old, new) if new.is_none() || by_new == 0 || old == new => old.clone(),
            _ => Some(JudgeStamp::mixed()),
        })
    }
}

/// What of a manifest a resume must find unchanged.
fn facts(manifest: &Manifest) -> Facts {
    Facts {
        suites: manifest
            .suites
            .iter()
            .map(|suite| SuiteFacts {
                name: suite.name.clone(),
                digest: suite.digest,
            })
            .collect(),
        agent: AgentIdentity {
            spec: manifest.agent.spec.clone(),
            digest: manifest.agent.digest,
        },
        seed: manifest.seed,
        epochs: manifest.epochs,
        checkers: manifest.checkers.clone(),
        tasks: manifest
            .tasks
            .iter()
            .map(|task| TaskFacts {
                task: task.task.clone(),
                steps: task.steps,
                key: task.key,
            })
            .collect(),
    }
}

/// The same, as far as it decides what an agent does.
fn played_facts(manifest: &Manifest) -> Facts {
    let mut facts = facts(manifest);
    facts.checkers.clear();
    for suite in &mut facts.suites {
        suite.digest = Digest::of(b"");
    }
    for (task, stamp) in facts.tasks.iter_mut().zip(&manifest.tasks) {
        task.key = stamp.played;
    }
    facts
}

/// Programs of this machine that are not what they were. A run that names none, or is older than this,
/// has nothing to compare.
fn programs(old: &Manifest, new: &Manifest) -> Vec<String> {
    let changed = old.programs.iter().filter_map(|(name, was)| {
        let is = new.programs.get(name);
        let short = is.map_or("none".to_owned(), Digest::short);
        (is != Some(was)).then(|| format!("program {name}: digest {} -> {short}", was.short()))
    });
    changed.collect()
}

/// The digest behind a name counts where both were looked at.
fn same_image(was: &str, is: &str) -> bool {
    let parts = |image: &str| match image.split_once(" (") {
        Some((name, digest)) => (name.to_owned(), Some(digest.to_owned())),
        None => (image.to_owned(), None),
    };
    let ((was, old), (is, new)) = (parts(was), parts(is));
    was == is && (old.is_none() || new.is_none() || old == new)
}

/// Images that are not what they were under the same name.
fn images(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut lines = Vec::new();
    for was in &old.tasks {
        let is = new.tasks.iter().find(|is| is.task == was.task);
        let (Some(was), Some(is)) = (&was.image, is.and_then(|is| is.image.as_ref())) else {
            continue;
        };
        let line = format!("image: {was} -> {is}");
        if !same_image(was, is) && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
