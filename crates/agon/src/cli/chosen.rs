//! What `agon run` was asked for: its arguments, completed by the run that is gone on with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_store::Manifest;

use super::args::{PlayArgs, RunArgs, SelectionArgs};
use super::failure::Failure;
use super::judge::JudgeArgs;
use super::llm::ModelArgs;
use super::play::Earlier;
use super::predict;
use super::report::find_run;

/// Before the name of somebody who plays elsewhere, where an agent is named.
pub(super) const RUNNER: &str = "runner:";

/// The arguments, completed by the run that is gone on with.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) suites: Vec<PathBuf>,
    pub(super) selection: SelectionArgs,
    pub(super) models: ModelArgs,
    pub(super) judge: JudgeArgs,
    /// `OLD=NEW`.
    pub(super) images: Vec<String>,
    pub(super) agent: String,
    pub(super) seed: u64,
    pub(super) epochs: u32,
    pub(super) earlier: Earlier,
}

impl Chosen {
    pub(super) fn from(args: &RunArgs, play: &PlayArgs) -> Result<Self, Failure> {
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
            agent: match (&args.agent, &args.cases.runner) {
                (_, Some(runner)) => format!("{RUNNER}{runner}"),
                (Some(agent), None) => agent.clone(),
                (None, None) => "noop".to_owned(),
            },
            seed: args.play.seed.unwrap_or(0),
            epochs: args.play.epochs.unwrap_or(1),
            earlier,
        };
        if args.play.resume.is_some()
            && let Some(old) = chosen.earlier.manifest.clone()
        {
            chosen.complete(args, &old)?;
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
        if self.models.model.is_none() && self.models.base_url.is_none() {
            self.models.base_url = old.selection.get("base_url").cloned();
        }
        if self.images.is_empty() {
            let images = old.selection.get("images").map(|list| list.split(','));
            self.images = images.into_iter().flatten().map(str::to_owned).collect();
        }
        if self.models.model.is_none() {
            self.models.model = old.models.first().map(|model| model.name.clone());
        }
        if let (None, Some(stamp)) = (&self.judge.judge, &old.judge) {
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
        }
        Ok(())
    }
}

/// Options as the manifest keeps them.
pub(super) fn remembered(chosen: &Chosen) -> BTreeMap<String, String> {
    let images = Some(chosen.images.join(",")).filter(|list| !list.is_empty());
    let others = [
        ("images", images),
        ("base_url", chosen.models.base_url.clone()),
    ];
    let others = others
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    remembered_selection(&chosen.selection)
        .into_iter()
        .chain(others)
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
