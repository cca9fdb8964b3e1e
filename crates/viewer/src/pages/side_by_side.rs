//! One task of several runs, side by side. Works out no comparison.

use std::sync::Arc;

use agon_core::TaskId;
use agon_core::verdict::Outcome;
use agon_report::run_sign;
use agon_store::Manifest;
use askama::Template;
use serde::Serialize;

use crate::error::ViewerError;
use crate::library::Run;
use crate::pages::{Frame, embedded};
use crate::shape::{Steps, TrialHead, TrialKey};
use crate::trial;
use crate::visible::plain;

/// Steps of a trial that a page is sent with.
const FIRST_STEPS: u32 = 200;
/// Epochs that can be chosen from.
const MOST_EPOCHS: u32 = 100;

#[derive(Template)]
#[template(path = "side_by_side.html")]
struct SidesPage {
    frame: Frame,
    task: String,
    name: String,
    back: String,
    data: String,
}

#[derive(Serialize)]
struct SidesData<'a> {
    task: &'a str,
    sides: Vec<Side>,
}

/// What one run made of the task.
#[derive(Serialize)]
struct Side {
    run: String,
    sign: String,
    agent: String,
    models: Vec<String>,
    /// The task is in its plan.
    planned: bool,
    /// The attempts that can be shown: that of each epoch which counts.
    attempts: Vec<Choice>,
    /// Of the first of them.
    head: Option<TrialHead>,
    steps: Option<Steps>,
}

#[derive(Serialize)]
struct Choice {
    epoch: u32,
    attempt: u32,
    outcome: Option<Outcome>,
}

/// `task`: `category/id`.
pub(crate) fn side_by_side(
    frame: Frame,
    runs: &[Arc<Run>],
    task: &str,
) -> Result<String, ViewerError> {
    let manifests = runs.iter().map(|run| run.manifest());
    let manifests = manifests.collect::<Result<Vec<_>, _>>()?;
    let wanted = TaskId::parse(task).ok();
    let stamp = |manifest: &Arc<Manifest>| {
        let mut tasks = manifest.tasks.iter();
        tasks
            .find(|stamp| Some(&stamp.task) == wanted.as_ref())
            .cloned()
    };
    let stamps: Vec<_> = manifests.iter().map(stamp).collect();
    let Some(named) = stamps.iter().flatten().next() else {
        let why = format!("none of these runs has a task {}", plain(task));
        return Err(ViewerError::NotFound(why));
    };
    let name = plain(&named.name);
    let sides = runs
        .iter()
        .zip(&manifests)
        .zip(&stamps)
        .enumerate()
        .map(|(at, ((run, manifest), stamp))| side(run, manifest, at, task, stamp.is_some()))
        .collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<&str> = runs.iter().map(|run| run.id()).collect();
    let back = frame.comparison(&ids);
    let page = SidesPage {
        frame: frame
            .titled(plain(task))
            .at("sidebyside")
            .under_runs()
            .under(format!("{} runs compared", runs.len()), back.clone()),
        task: plain(task),
        name,
        back,
        data: embedded(&SidesData { task, sides })?,
    };
    Ok(page.render()?)
}

/// `at`: its place among the runs.
fn side(
    run: &Run,
    manifest: &Manifest,
    at: usize,
    task: &str,
    planned: bool,
) -> Result<Side, ViewerError> {
    let mut side = Side {
        run: run.id().to_owned(),
        sign: run_sign(at),
        agent: plain(&manifest.agent.spec),
        models: manifest
            .models
            .iter()
            .map(|model| model.name.clone())
            .collect(),
        planned,
        attempts: Vec::new(),
        head: None,
        steps: None,
    };
    if !planned {
        return Ok(side);
    }
    for epoch in 1..=manifest.epochs.min(MOST_EPOCHS) {
        let attempts = run.attempts(task, epoch)?;
        let counts = attempts.iter().find(|one| one.is_final);
        side.attempts.extend(counts.map(|one| Choice {
            epoch,
            attempt: one.attempt,
            outcome: one.outcome,
        }));
    }
    if let Some(first) = side.attempts.first() {
        let key = TrialKey {
            task: task.to_owned(),
            epoch: first.epoch,
            attempt: first.attempt,
        };
        // A record that can't be read leaves its column empty; the page of the trial says why.
        side.head = trial::head(run, &key).ok();
        side.steps = trial::steps(run, &key, 0, FIRST_STEPS).ok();
    }
    Ok(side)
}
