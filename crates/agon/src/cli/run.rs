//! `agon run`: from arguments to a run folder, a report and an exit status.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::{Clock, SystemClock};
use agon_engine::Mode;
use agon_store::Manifest;

use super::args::{RunArgs, SelectionArgs};
use super::contest::Entry;
use super::exit::Exit;
use super::failure::Failure;
use super::llm::{ModelArgs, OpenModels};
use super::load::Loaded;
use super::manifest::Growth;
use super::play::{Earlier, Sitting, play};
use super::report::find_run;
use super::{host, list, output, predict};

pub(super) async fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let clock = SystemClock::default();
    let began = clock.monotonic();
    let chosen = Chosen::from(args)?;
    let old = chosen.earlier.manifest.as_ref();
    let dates_from = old.map_or_else(|| clock.now(), |old| old.dates_from);
    let loaded = Loaded::read(&chosen.suites, &chosen.selection, &FixedClock(dates_from))?;
    if args.dry_run {
        return dry_run(args, &chosen, &loaded);
    }

    let mode = args.play.mode.into();
    if mode == Mode::ValidateOnly && names_models(&args.play.models) {
        output::say(
            "note: --model, --tape and the like are of no use here: grading again asks no model",
        );
    }
    let models = open_models(&chosen.models, mode)?;
    let entry = Entry {
        agent: chosen.agent.clone(),
        tape: models.as_ref().and_then(OpenModels::tape),
        config: models.as_ref().map(|open| Arc::clone(&open.config)),
        session: models.as_ref().map(|open| Arc::clone(&open.session)),
        models: models.and_then(|open| open.model).into_iter().collect(),
        seed: chosen.seed,
        epochs: chosen.epochs,
        dates_from,
        selection: remembered(&chosen.selection),
        played_by: None,
    };
    let sitting = Sitting {
        command: Some("run"),
        began,
        clock: Arc::new(clock),
        loaded,
        entry,
        own_agent: None,
        earlier: chosen.earlier,
        workers: host::cpus(),
        growth: Growth::Fixed,
        results: None,
    };
    play(&args.play, sitting).await
}

/// The run's model, unless nothing is played.
fn open_models(args: &ModelArgs, mode: Mode) -> Result<Option<OpenModels>, Failure> {
    if args.model.is_some() && mode != Mode::ValidateOnly {
        return args.open().map(Some);
    }
    if args.model.is_none() && (args.tape.is_some() || args.record_tape.is_some()) {
        return Err(Failure::new(
            "whose calls are on the tape? Name the model with --model",
        ));
    }
    Ok(None)
}

fn names_models(args: &ModelArgs) -> bool {
    let files = [&args.tape, &args.record_tape, &args.prices];
    args.model.is_some() || files.into_iter().any(Option::is_some)
}

/// The arguments, completed by the run that is gone on with.
#[derive(Debug)]
struct Chosen {
    suites: Vec<PathBuf>,
    selection: SelectionArgs,
    models: ModelArgs,
    agent: String,
    seed: u64,
    epochs: u32,
    earlier: Earlier,
}

impl Chosen {
    fn from(args: &RunArgs) -> Result<Self, Failure> {
        let earlier = Earlier::of(&args.play)?;
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
            agent: args.agent.clone().unwrap_or_else(|| "noop".to_owned()),
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
        if args.agent.is_none() {
            self.agent.clone_from(&old.agent.spec);
        }
        if self.models.model.is_none() {
            self.models.model = old.models.first().map(|model| model.name.clone());
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
        if remembered(&self.selection).is_empty() {
            self.selection = recalled(&old.selection)?;
        }
        Ok(())
    }
}

/// Selection options as the manifest keeps them.
fn remembered(selection: &SelectionArgs) -> BTreeMap<String, String> {
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

fn dry_run(args: &RunArgs, chosen: &Chosen, loaded: &Loaded) -> Result<Exit, Failure> {
    let names: Vec<&str> = loaded
        .suites
        .iter()
        .map(|suite| suite.name.as_str())
        .collect();
    output::say(&format!(
        "agent {}, suites {}",
        chosen.agent,
        names.join(", ")
    ));
    output::say(&format!(
        "ready to run {} x {}:",
        output::count(loaded.tasks.len() as u64, "task"),
        output::count(chosen.epochs.into(), "epoch")
    ));
    if args.play.json {
        list::print_json(loaded)?
    } else {
        output::data(&list::text(loaded))?
    }
    Ok(Exit::Done)
}
