//! What `agon run` was asked for: its arguments, completed by the run that is gone on with.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use agon_core::{Clock, Digest, TaskId};
use agon_store::{Manifest, RunFolder};

use super::args::{ModeArg, PlayArgs, RunArgs, SelectionArgs};
use super::failure::Failure;
use super::judge::JudgeArgs;
use super::llm::ModelArgs;
use super::load::Loaded;
use super::play::Earlier;
use super::predict;
use super::report::find_run;

/// Before the name of somebody who plays elsewhere, where an agent is named.
pub(super) const RUNNER: &str = "runner:";

/// How the manifest names what a runner was given.
const AGENT_YAML: &str = "agent_yaml";
const AGENT_FILES: &str = "agent_files";
const AGENT_YAML_DIGEST: &str = "agent_yaml_digest";
/// Larger files describe no agent.
const MOST_OF_AN_AGENT: u64 = 1 << 20;

/// The arguments, completed by the run that is gone on with.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) suites: Vec<PathBuf>,
    pub(super) selection: SelectionArgs,
    pub(super) models: ModelArgs,
    pub(super) judge: JudgeArgs,
    /// `OLD=NEW`.
    pub(super) images: Vec<String>,
    /// Given to a runner as it is.
    pub(super) agent_yaml: Option<String>,
    pub(super) agent: String,
    /// Globs of what belongs to it beside its program.
    pub(super) agent_files: Vec<String>,
    pub(super) seed: u64,
    pub(super) epochs: u32,
    pub(super) earlier: Earlier,
    /// Nothing was said of which tasks: those of the run that is gone on with.
    as_before: bool,
}

impl Chosen {
    pub(super) fn from(args: &RunArgs, play: &PlayArgs) -> Result<Self, Failure> {
        nothing_to_grade(play)?;
        let earlier = Earlier::of(play)?;
        if earlier
            .manifest
            .as_ref()
            .is_some_and(predict::is_prediction)
        {
            return Err(Failure::new(
                "this is a run of predictions: go on with it by `agon predict --resume RUN`",
            ));
        }
        let mut chosen = Self {
            suites: args.suites.clone(),
            selection: args.selection.clone(),
            models: args.play.models.clone(),
            judge: args.judge.clone(),
            images: args.cases.images.clone(),
            agent_yaml: args.cases.agent_yaml.clone(),
            agent: match (&args.agent, &args.cases.runner) {
                (_, Some(runner)) => format!("{RUNNER}{runner}"),
                (Some(agent), None) => agent.clone(),
                (None, None) => "noop".to_owned(),
            },
            agent_files: args.agent_files.clone(),
            seed: args.play.seed.unwrap_or(0),
            epochs: args.play.epochs.unwrap_or(1),
            earlier,
            as_before: false,
        };
        if args.play.resume.is_some()
            && let Some(old) = chosen.earlier.manifest.clone()
        {
            chosen.complete(args, &old)?;
        }
        chosen.check_agent_yaml(play)?;
        if !chosen.agent_files.is_empty() && !chosen.agent.starts_with("cmd:") {
            return Err(Failure::new(
                "--agent-files is for agents in a sandbox of their own: name one with --agent 'cmd:PROGRAM ARGS'",
            ));
        }
        if let Some(name) = chosen.agent.strip_prefix("replay:") {
            chosen.agent = format!("replay:{}", find_run(name)?.display());
        }
        if chosen.suites.is_empty() {
            return Err(Failure::new(
                "which suite? Give a folder, such as `agon run suites/demo`",
            ));
        }
        Ok(chosen)
    }

    /// `--resume` alone means: the same as before.
    fn complete(&mut self, args: &RunArgs, old: &Manifest) -> Result<(), Failure> {
        if args.agent.is_none() && args.cases.runner.is_none() {
            self.agent.clone_from(&old.agent.spec);
        }
        if self.agent_files.is_empty() && self.agent == old.agent.spec {
            let globs = old.selection.get(AGENT_FILES).map(|list| list.lines());
            self.agent_files = globs.into_iter().flatten().map(str::to_owned).collect();
        }
        if self.models.model.is_none() && self.models.base_url.is_none() {
            self.models.base_url = old.selection.get("base_url").cloned();
        }
        if self.images.is_empty() {
            let images = old.selection.get("images").map(|list| list.split(','));
            self.images = images.into_iter().flatten().map(str::to_owned).collect();
        }
        if self.agent_yaml.is_none() && self.plays_elsewhere() {
            self.agent_yaml = old.selection.get(AGENT_YAML).cloned();
        }
        if self.models.model.is_none() {
            self.models.model = old.models.first().map(|model| model.name.clone());
        }
        let stamp = old.judge.as_ref().filter(|stamp| !stamp.is_mixed());
        if let (None, Some(stamp)) = (&self.judge.judge, stamp) {
            self.judge.judge = Some(stamp.model.name.clone());
            self.judge.judge_votes = self.judge.judge_votes.or(Some(stamp.votes));
            // It was allowed before.
            self.judge.judge_may_be_agent = true;
        }
        self.seed = args.play.seed.unwrap_or(old.seed);
        self.epochs = args.play.epochs.unwrap_or(old.epochs);
        if !args.suites.is_empty() {
            return Ok(());
        }
        self.suites = old
            .suites
            .iter()
            .map(|suite| PathBuf::from(&suite.path))
            .collect();
        if remembered_selection(&self.selection).is_empty() {
            self.selection = recalled(&old.selection)?;
            self.as_before = true;
        }
        Ok(())
    }

    /// The tasks that were chosen. A run that is gone on with may have got more of them than its first command
    /// chose.
    pub(super) fn load(&self, clock: &dyn Clock) -> Result<Loaded, Failure> {
        let Some(old) = self.earlier.manifest.as_ref().filter(|_| self.as_before) else {
            return Loaded::read(&self.suites, &self.selection, clock);
        };
        let known: HashSet<&TaskId> = old.tasks.iter().map(|stamp| &stamp.task).collect();
        let mut loaded = self.load_all(clock)?;
        loaded.tasks.retain(|task| known.contains(&task.id));
        Ok(loaded)
    }

    /// All tasks of the suites, whichever were chosen.
    pub(super) fn load_all(&self, clock: &dyn Clock) -> Result<Loaded, Failure> {
        let all = SelectionArgs {
            max_steps: self.selection.max_steps.clone(),
            ..SelectionArgs::default()
        };
        Loaded::read(&self.suites, &all, clock)
    }

    /// Somebody else plays, and asks models of his own.
    pub(super) fn plays_elsewhere(&self) -> bool {
        self.agent.starts_with(RUNNER)
    }

    /// What is given to a runner is a part of whom the run is about.
    fn check_agent_yaml(&self, play: &PlayArgs) -> Result<(), Failure> {
        if self.agent_yaml.is_some() && !self.plays_elsewhere() {
            return Err(Failure::new(
                "--agent-yaml is for runners: name one with --runner",
            ));
        }
        let old = self.earlier.manifest.as_ref();
        let (Some(old), ModeArg::RunAll | ModeArg::RerunFailed) = (old, play.mode) else {
            return Ok(());
        };
        if !self.plays_elsewhere() || old.agent.spec != self.agent {
            return Ok(());
        }
        let now = self.remembered_agent();
        let kept = [AGENT_YAML, AGENT_YAML_DIGEST].map(|name| old.selection.get(name));
        if kept == [AGENT_YAML, AGENT_YAML_DIGEST].map(|name| now.get(name)) {
            return Ok(());
        }
        let named = |all: &BTreeMap<String, String>| {
            let name = all.get(AGENT_YAML).map_or("none", String::as_str);
            match all.get(AGENT_YAML_DIGEST) {
                Some(digest) => format!("{name} ({})", digest.get(..12).unwrap_or(digest)),
                None => name.to_owned(),
            }
        };
        Err(Failure::new(format_args!(
            "{} is a run of another agent: --agent-yaml was {}, and is {}; choose another --out, or undo what \
             differs",
            old.run,
            named(&old.selection),
            named(&now)
        )))
    }

    /// `--agent-yaml`, and what stands in the file if it names one.
    fn remembered_agent(&self) -> BTreeMap<String, String> {
        let mut kept = BTreeMap::new();
        let Some(name) = &self.agent_yaml else {
            return kept;
        };
        kept.insert(AGENT_YAML.to_owned(), name.clone());
        if let Some(digest) = file_digest(Path::new(name)) {
            kept.insert(AGENT_YAML_DIGEST.to_owned(), digest);
        }
        kept
    }
}

/// Of a file of ordinary size; whatever else the name means is the runner's own affair.
fn file_digest(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MOST_OF_AN_AGENT {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(Digest::of(&bytes).to_string())
}

/// Says which folder it is that holds no run.
fn nothing_to_grade(play: &PlayArgs) -> Result<(), Failure> {
    let Some(out) = &play.out else { return Ok(()) };
    if play.mode != ModeArg::ValidateOnly || RunFolder::at(out).has_manifest() {
        return Ok(());
    }
    let why = match out.exists() {
        true => "holds no run",
        false => "is not there",
    };
    Err(Failure::new(format_args!(
        "{} {why}: there is nothing to grade again",
        out.display()
    )))
}

/// Options as the manifest keeps them.
pub(super) fn remembered(chosen: &Chosen) -> BTreeMap<String, String> {
    let images = Some(chosen.images.join(",")).filter(|list| !list.is_empty());
    let agent_files = Some(chosen.agent_files.join("\n")).filter(|list| !list.is_empty());
    let others = [
        ("images", images),
        (AGENT_FILES, agent_files),
        ("base_url", chosen.models.base_url.clone()),
    ];
    let others = others
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    remembered_selection(&chosen.selection)
        .into_iter()
        .chain(others)
        .chain(chosen.remembered_agent())
        .collect()
}

fn remembered_selection(selection: &SelectionArgs) -> BTreeMap<String, String> {
    let options = [
        (
            "category",
            Some(selection.category.join(",")).filter(|list| !list.is_empty()),
        ),
        (
            "level",
            Some(selection.level.join(",")).filter(|list| !list.is_empty()),
        ),
        ("filter", selection.filter.clone()),
        ("limit", selection.limit.map(|limit| limit.to_string())),
        (
            "max_steps",
            selection.max_steps.as_ref().map(ToString::to_string),
        ),
    ];
    options
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn recalled(kept: &BTreeMap<String, String>) -> Result<SelectionArgs, Failure> {
    let list = |name: &str| -> Vec<String> {
        kept.get(name)
            .map(|list| list.split(',').map(str::to_owned).collect())
            .unwrap_or_default()
    };
    let bad = |name: &str| Failure::new(format_args!("the manifest's `{name}` can't be read"));
    Ok(SelectionArgs {
        category: list("category"),
        level: list("level"),
        filter: kept.get("filter").cloned(),
        limit: kept
            .get("limit")
            .map(|n| n.parse().map_err(|_| bad("limit")))
            .transpose()?,
        max_steps: kept
            .get("max_steps")
            .map(|steps| steps.parse().map_err(|_| bad("max_steps")))
            .transpose()?,
    })
}
