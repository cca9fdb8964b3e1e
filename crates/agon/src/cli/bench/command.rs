//! From arguments to a contest in a result folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::{Clock, Money, SystemClock, Task};
use agon_llm::config::{Config, ConfigSource, Environment};
use agon_suite::MaxSteps;
use agon_workflow::codeact::{self, Options};
use agon_workflow::eval::{self, MetadataOptions};
use agon_workflow::results::BUDGET;

use super::args::{BenchCommand, BenchRunArgs};
use super::live::OutputFiles;
use crate::cli::args::SelectionArgs;
use crate::cli::contest::Entry;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::llm::OpenModels;
use crate::cli::load::Loaded;
use crate::cli::manifest::Growth;
use crate::cli::own_files;
use crate::cli::play::{Earlier, Sitting, play};

/// As the original's evaluations.
const WORKERS: usize = 4;

pub(in crate::cli) async fn bench(command: &BenchCommand) -> Result<Exit, Failure> {
    match command {
        BenchCommand::Run(args) => run(args).await,
    }
}

async fn run(args: &BenchRunArgs) -> Result<Exit, Failure> {
    let clock = SystemClock::default();
    let began = clock.monotonic();
    let mut play_args = args.play.clone();
    let args = &BenchRunArgs {
        // As in the original, none is no limit.
        max_budget_per_task: args.max_budget_per_task.filter(|most| *most > Money::ZERO),
        ..args.clone()
    };
    own_files::learn_keys(&play_args.models);
    let open = match play_args.models.model {
        Some(_) => {
            must_read(args)?;
            Some(play_args.models.open()?)
        }
        None => None,
    };
    let selection = SelectionArgs {
        max_steps: args.max_iterations.map(MaxSteps::from),
        ..SelectionArgs::default()
    };
    let now = clock.now();
    let mut loaded = read(args, &selection, &FixedClock(now))?;
    let name = benchmark_name(&loaded);
    let options = open.as_ref().and_then(|open| settings(args, open));
    let llm = open
        .as_ref()
        .and_then(|open| open.model.as_ref())
        .map(agon_llm::Model::spec);
    let metadata = MetadataOptions {
        llm,
        dataset_name: &name,
        agent_class: &args.agent_cls,
        max_iterations: args
            .max_iterations
            .unwrap_or_else(|| most_steps(&loaded.tasks)),
        eval_note: args.eval_note.as_deref(),
        eval_output_dir: &args.eval_output_dir,
        data_split: None,
        details: None,
        agent_config: options.as_ref().map(|options| options.agent_config(llm)),
        condenser_config: options
            .as_ref()
            .map(|options| options.condenser_config(llm)),
        instruction_template_name: None,
    }
    .describe(&clock)?;
    if play_args.out.is_none() && play_args.resume.is_none() {
        play_args.out = Some(PathBuf::from(&metadata.eval_output_dir));
    }
    let earlier = Earlier::of(&play_args)?;
    let old = earlier.manifest.as_ref();
    let dates_from = old.map_or(now, |old| old.dates_from);
    if dates_from != now {
        // Which folder it is, is known only now: the benchmark's name is part of its own.
        drop(loaded);
        loaded = read(args, &selection, &FixedClock(dates_from))?;
    }
    // Rows of earlier commands need their instances too.
    let results = OutputFiles::new(metadata, &loaded.tasks, args.max_budget_per_task);
    choose(&mut loaded, args)?;
    let entry = Entry {
        agent: args.agent_cls.clone(),
        tape: open.as_ref().and_then(OpenModels::tape),
        config: open.as_ref().map(|open| Arc::clone(&open.config)),
        session: open.as_ref().map(|open| Arc::clone(&open.session)),
        models: open.and_then(|open| open.model).into_iter().collect(),
        seed: play_args.seed.unwrap_or(0),
        epochs: play_args.epochs.unwrap_or(1),
        dates_from,
        selection: remembered(args),
        model_elsewhere: None,
        judge: None,
        own_files: own_files::own_files(&play_args.models),
        agent_files: args.agent_files.clone(),
        played_by: None,
    };
    let sitting = Sitting {
        command: None,
        began,
        clock: Arc::new(clock),
        loaded,
        entry,
        own_agent: None,
        earlier,
        workers: args.eval_num_workers.map_or(WORKERS, usize::from),
        growth: Growth::Open,
        results: Some(Box::new(results)),
    };
    play(&play_args, sitting).await
}

fn read(
    args: &BenchRunArgs,
    selection: &SelectionArgs,
    clock: &dyn Clock,
) -> Result<Loaded, Failure> {
    let paths = [args.benchmark.clone()];
    let mut loaded = Loaded::read(&paths, selection, clock)?;
    if let Some(most) = args.max_budget_per_task {
        for task in &mut loaded.tasks {
            task.limit_money(most);
        }
    }
    Ok(loaded)
}

/// Leaves out what was not asked for.
fn choose(loaded: &mut Loaded, args: &BenchRunArgs) -> Result<(), Failure> {
    keep_ids(&mut loaded.tasks, &args.eval_ids)?;
    if let Some(limit) = args.eval_n_limit {
        loaded.tasks.truncate(limit.get());
    }
    gradable(&loaded.tasks)
}

/// Nothing is played, and paid for, that nobody can grade.
fn gradable(tasks: &[Task]) -> Result<(), Failure> {
    let open = |task: &&Task| task.unplayable.is_none() && task.checks.inspect(Vec::is_empty);
    match tasks.iter().find(open) {
        None => Ok(()),
        Some(task) => Err(Failure::new(format_args!(
            "{} can't be graded: it has no checks. Give it some, or leave it out; `agon lint` names all \
             that have none",
            task.id
        ))),
    }
}

/// The instances that were asked for; one that is not there is an error, not a smaller run.
fn keep_ids(tasks: &mut Vec<Task>, ids: &[String]) -> Result<(), Failure> {
    if ids.is_empty() {
        return Ok(());
    }
    let is = |task: &Task, id: &str| {
        task.id.id() == id || task.id.to_string() == id || instance_id(task) == id
    };
    if let Some(missing) = ids.iter().find(|id| !tasks.iter().any(|task| is(task, id))) {
        return Err(Failure::new(format_args!(
            "the benchmark has no instance `{missing}`: `agon list BENCHMARK` shows them all"
        )));
    }
    tasks.retain(|task| ids.iter().any(|id| is(task, id)));
    Ok(())
}

/// What is wrong with the agent's sections. Told before models are opened: that warns of all that is odd, and
/// the same would be said twice.
fn must_read(args: &BenchRunArgs) -> Result<(), Failure> {
    if has_settings(args) {
        let source = ConfigSource::of_process(args.play.models.config.clone());
        Options::must_read(&Config::load(&source)?)?;
    }
    Ok(())
}

fn has_settings(args: &BenchRunArgs) -> bool {
    let mut kinds = codeact::KINDS.iter();
    kinds.any(|kind| kind.name == args.agent_cls)
}

/// Of the agent, if it is one with settings. What they name and is not there is told when it is entered.
fn settings(args: &BenchRunArgs, open: &OpenModels) -> Option<Options> {
    let options = has_settings(args).then(|| {
        let variables = Environment::of_process();
        Options::of(Some(&open.config), Some(&open.session), &variables)
    });
    options?.ok()
}

/// As the dataset calls it.
fn instance_id(task: &Task) -> String {
    let row = task.instance.on_host().as_ref();
    let named = row.and_then(|row| eval::id_in_dataset(row, &task.name));
    named.unwrap_or_else(|| task.id.id().to_owned())
}

fn benchmark_name(loaded: &Loaded) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    loaded.name().chars().map(plain).collect()
}

fn most_steps(tasks: &[Task]) -> u32 {
    tasks
        .iter()
        .map(|task| task.limits.steps)
        .max()
        .unwrap_or(0)
}

/// The selection as the manifest keeps it.
fn remembered(args: &BenchRunArgs) -> BTreeMap<String, String> {
    let options = [
        (
            "eval_ids",
            Some(args.eval_ids.join(",")).filter(|ids| !ids.is_empty()),
        ),
        (
            "eval_n_limit",
            args.eval_n_limit.map(|limit| limit.to_string()),
        ),
        (
            "max_iterations",
            args.max_iterations.map(|most| most.to_string()),
        ),
        (
            BUDGET,
            args.max_budget_per_task.map(|most| most.to_string()),
        ),
    ];
    options
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}
