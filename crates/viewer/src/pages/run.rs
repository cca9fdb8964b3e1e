//! The page of a run: what it is, what it adds up to, and its trials.

use askama::Template;
use serde::Serialize;

use agon_report::clip;
use agon_store::Manifest;

use super::overview as drawn;
use super::suites::suites;
use crate::error::ViewerError;
use crate::library::Run;
use crate::pages::{Frame, embedded};
use crate::shape::{RunCard, RunState, TrialPage, TrialQuery};
use crate::visible::plain;

/// Rows that a page begins with: more than a screen has room for.
const FIRST: u64 = 200;
/// Names of checks to choose from.
const CHECKS: usize = 200;

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage {
    frame: Frame,
    id: String,
    suites: String,
    agent: String,
    state: &'static str,
    facts: Vec<Fact>,
    overview: String,
    data: String,
}

#[derive(Template)]
#[template(path = "broken.html")]
struct BrokenPage {
    frame: Frame,
    path: String,
    problems: Vec<String>,
}

struct Fact {
    name: &'static str,
    value: String,
    hint: String,
}

#[derive(Serialize)]
struct Data<'a> {
    card: &'a RunCard,
    page: &'a TrialPage,
    checks: Vec<(String, u64)>,
    query: &'a TrialQuery,
    epochs: u32,
}

pub(crate) fn run(frame: Frame, run: &Run, query: &TrialQuery) -> Result<String, ViewerError> {
    let card = run.card();
    let frame = frame.titled(plain(run.id())).under_runs();
    if card.state == RunState::Broken {
        let page = BrokenPage {
            frame,
            path: plain(&card.path),
            problems: card.problems.iter().map(|problem| plain(problem)).collect(),
        };
        return Ok(page.render()?);
    }
    let manifest = run.manifest()?;
    let overview = run.overview()?;
    let trials = run.trials(query, 0, FIRST)?;
    let mut checks = run.failed_checks()?;
    checks.truncate(CHECKS);
    let page = RunPage {
        frame: frame.at("run"),
        id: run.id().to_owned(),
        suites: suites(&card.suites),
        agent: plain(&card.agent),
        state: state_name(card.state),
        facts: facts(&card, &manifest),
        overview: drawn::draw(&card, &manifest, &overview)?,
        data: embedded(&Data {
            card: &card,
            page: &trials,
            checks,
            query,
            epochs: manifest.epochs,
        })?,
    };
    Ok(page.render()?)
}

/// Cards, matrix and charts alone: fetched again when the run has changed.
pub(crate) fn overview(run: &Run) -> Result<String, ViewerError> {
    drawn::draw(&run.card(), &*run.manifest()?, &*run.overview()?)
}

fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Live => "live",
        RunState::Complete => "complete",
        RunState::Stopped => "stopped",
        RunState::Broken => "broken",
    }
}

fn facts(card: &RunCard, manifest: &Manifest) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |name, value: String, hint: String| {
        if !value.is_empty() {
            facts.push(Fact {
                name,
                value: clip(&plain(&value), 160),
                hint: plain(&hint),
            });
        }
    };
    fact("Model", card.models.join(", "), models(manifest));
    fact(
        "Judge",
        card.judge.clone().unwrap_or_default(),
        String::new(),
    );
    // In the reader's own time once the script runs.
    fact("Begun", manifest.created.to_string(), String::new());
    let plan = manifest.plan.to_string();
    fact("Plan", manifest.plan.short(), plan);
    fact(
        "Tasks",
        match manifest.epochs {
            1 => manifest.tasks.len().to_string(),
            epochs => format!("{} × {epochs} epochs", manifest.tasks.len()),
        },
        String::new(),
    );
    fact("Seed", manifest.seed.to_string(), String::new());
    let selection: Vec<String> = manifest
        .selection
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    fact("Selection", selection.join(", "), String::new());
    let host = &manifest.host;
    fact(
        "Host",
        host.os.clone(),
        format!(
            "{}, {} processors, {} MiB, limits by {}; {}",
            host.kernel,
            host.cpus,
            host.memory_mib,
            host.limits,
            host.engines.join(", ")
        ),
    );
    fact("Agon", manifest.agon.clone(), String::new());
    facts
}

fn models(manifest: &Manifest) -> String {
    let models = manifest.models.iter().map(|model| {
        let host = model.host.as_deref().unwrap_or("this machine");
        format!(
            "{}: {} by {} at {host}",
            model.name, model.model, model.provider
        )
    });
    models.collect::<Vec<_>>().join("; ")
}
