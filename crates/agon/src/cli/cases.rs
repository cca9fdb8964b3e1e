//! What `agon run` knows of desktop test cases alone: runners from outside, and results of the original that
//! are there already.

use std::fs;
use std::path::Path;

use agon_agent::{AgentFactory, SetupError};
use agon_core::TaskId;
use agon_engine::Mode;
use agon_store::{Manifest, RunFolder};
use agon_testcase::results::Foreign;
use agon_testcase::runner::{self, MaxSteps, RunnerConfig};
use jiff::Timestamp;

use super::args::{ModeArg, PlayArgs, RunArgs};
use super::chosen::{Chosen, RUNNER};
use super::failure::Failure;
use super::load::Loaded;
use super::report::RUNS;
use super::{host, output, results};

/// Results of the original in the folder that `--results` names.
pub(super) fn foreign(args: &RunArgs) -> Result<Option<Foreign>, Failure> {
    let Some(dir) = &args.cases.results else {
        return Ok(None);
    };
    let found = results::earlier(dir)?;
    for why in found.unreadable() {
        output::say(&format!("note: {}: it counts as none", output::plain(why)));
    }
    if !found.is_empty() && args.play.mode == ModeArg::ValidateOnly {
        return Err(Failure::new(format_args!(
            "{0} holds results of OSUniverse: make a run of them with `agon import {0}`, and grade that \
             again with `agon validate RUN`",
            dir.display()
        )));
    }
    Ok(Some(found).filter(|found| !found.is_empty()))
}

/// Leaves out what the original has played already, by its own rules.
pub(super) fn leave_out(
    loaded: &mut Loaded,
    foreign: &Foreign,
    old: Option<&Manifest>,
    mode: Mode,
) {
    // What this run has begun stays a part of it.
    let ours = |id: &TaskId| old.is_some_and(|old| old.tasks.iter().any(|stamp| stamp.task == *id));
    let before = loaded.tasks.len();
    loaded.tasks.retain(|task| {
        let done =
            foreign.has(&task.id) && (mode != Mode::RerunFailed || !foreign.failed(&task.id));
        ours(&task.id) || !done
    });
    let left_out = before - loaded.tasks.len();
    if left_out > 0 {
        output::say(&format!(
            "{} left out: there are results of OSUniverse",
            output::count(left_out as u64, "task")
        ));
    }
}

/// Somebody who plays elsewhere, if `--runner` names one. He is told where the results will be, so that the
/// run folder is made for him, unless there is one.
pub(super) fn runner(
    chosen: &mut Chosen,
    loaded: &Loaded,
    play: &PlayArgs,
    now: Timestamp,
) -> Result<Option<AgentFactory>, Failure> {
    if !chosen.plays_elsewhere() {
        return Ok(None);
    }
    if chosen.earlier.folder.is_some() {
        return enter(chosen, play).map(Some);
    }
    let made = RunFolder::fresh(Path::new(RUNS), now, &loaded.name(), &chosen.agent)?;
    chosen.earlier.folder = Some(made.path().to_owned());
    let entered = enter(chosen, play).inspect_err(|_| {
        fs::remove_dir(made.path()).ok();
    });
    entered.map(Some)
}

fn enter(chosen: &Chosen, play: &PlayArgs) -> Result<AgentFactory, Failure> {
    let spec = chosen.agent.strip_prefix(RUNNER).unwrap_or(&chosen.agent);
    let folder = chosen.earlier.folder.as_ref();
    let config = RunnerConfig {
        agent_yaml: chosen.agent_yaml.clone().unwrap_or_default(),
        agent_model: chosen.models.model.clone().unwrap_or_default(),
        agent_model_base_url: chosen.models.base_url.clone(),
        testcases_dir: chosen
            .suites
            .first()
            .map(|suite| suite.display().to_string())
            .unwrap_or_default(),
        results_dir: folder
            .map(|folder| folder.display().to_string())
            .unwrap_or_default(),
        categories: chosen.selection.category.clone(),
        levels: chosen.selection.level.clone(),
        max_steps: chosen
            .selection
            .max_steps
            .as_ref()
            .map(|steps| {
                MaxSteps::of(|level| steps.of(Some(level)).unwrap_or(level.default_steps()))
            })
            .unwrap_or_default(),
        dry_run: false,
        mode: match play.mode {
            ModeArg::RunAll => "run-all",
            ModeArg::RerunFailed => "rerun-failed",
            ModeArg::ValidateOnly => "validate-only",
        }
        .to_owned(),
        runners: play.workers.map_or_else(host::cpus, usize::from),
    };
    let contender = runner::contender(spec, config).map_err(|error| match error {
        SetupError::Spec { spec, why } => {
            Failure::new(format_args!("--runner {}: {why}", output::plain(&spec)))
        }
        other => other.into(),
    })?;
    Ok(AgentFactory::of(&chosen.agent, contender))
}
