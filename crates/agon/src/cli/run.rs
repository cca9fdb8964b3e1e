//! `agon run`: from arguments to a run folder, a report and an exit status.

use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::{Clock, SystemClock};
use agon_engine::{Asked, Mode};
use agon_store::{ModelStamp, RunFolder};

use super::args::{PlayArgs, RunArgs};
use super::cases;
use super::chosen::{Chosen, remembered};
use super::contest::Entry;
use super::exit::Exit;
use super::failure::Failure;
use super::judge::Player;
use super::llm::OpenModels;
use super::load::Loaded;
use super::manifest::Growth;
use super::play::{Results, Sitting, play};
use super::results::ResultFiles;
use super::{host, list, model_stamp, output, own_files};

pub(super) async fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let clock = SystemClock::default();
    let began = clock.monotonic();
    let play_args = PlayArgs {
        out: args.cases.results.clone().or_else(|| args.play.out.clone()),
        ..args.play.clone()
    };
    let foreign = cases::foreign(args)?;
    let mut chosen = Chosen::from(args, &play_args)?;
    let old = chosen.earlier.manifest.as_ref();
    let dates_from = old.map_or_else(|| clock.now(), |old| old.dates_from);
    let mut loaded = chosen.load(&FixedClock(dates_from))?;
    loaded.derive_images(&chosen.images)?;
    let mode = args.play.mode.into();
    if let Some(foreign) = &foreign {
        cases::leave_out(&mut loaded, foreign, old, mode);
    }
    if mode != Mode::ValidateOnly && chosen.judge.judge.is_none() {
        tell_of_judges(&loaded);
    }
    if args.dry_run {
        return dry_run(args, &chosen, &loaded);
    }
    let results = match &args.cases.results {
        Some(dir) => {
            let all = chosen.load_all(&FixedClock(dates_from))?.tasks;
            let agent_yaml = chosen.agent_yaml.as_deref();
            let files = ResultFiles::new(dir, &loaded.tasks, &all, agent_yaml)?;
            Some(Box::new(files) as Box<dyn Results>)
        }
        None => None,
    };
    let given = &args.play.models;
    let unused = match (&given.model, &given.base_url) {
        (Some(_), _) => Some("--model"),
        (None, Some(_)) => Some("--base-url"),
        (None, None) => None,
    };
    if let (Some(flag), Mode::ValidateOnly) = (unused, mode) {
        output::say(&format!(
            "note: {flag} is of no use here: grading again asks no agent"
        ));
    }
    own_files::learn_keys(&chosen.models);
    let models = open_models(&chosen, mode)?;
    let model_elsewhere = model_elsewhere(&chosen, mode);
    let judge = match &models {
        Some(open) => {
            let agent = judged(&chosen, open, model_elsewhere.as_ref(), mode);
            chosen.judge.open(open, agent)?
        }
        None => None,
    };
    let own_agent = cases::runner(&mut chosen, &loaded, &play_args, clock.now())?;
    let entry = Entry {
        agent: chosen.agent.clone(),
        tape: models.as_ref().and_then(OpenModels::tape),
        config: models.as_ref().map(|open| Arc::clone(&open.config)),
        session: models.as_ref().map(|open| Arc::clone(&open.session)),
        models: models.and_then(|open| open.model).into_iter().collect(),
        seed: chosen.seed,
        epochs: chosen.epochs,
        dates_from,
        selection: remembered(&chosen),
        model_elsewhere,
        judge,
        own_files: own_files::own_files(&chosen.models),
        agent_files: chosen.agent_files.clone(),
        played_by: None,
    };
    let sitting = Sitting {
        command: Some("run"),
        began,
        clock: Arc::new(clock),
        loaded,
        entry,
        own_agent,
        earlier: chosen.earlier,
        workers: host::cpus(),
        growth: match (&args.cases.results, mode) {
            // As the original's folder: each command says what of it is played now.
            (Some(_), Mode::RunAll | Mode::RerunFailed) => Growth::Open,
            _ => Growth::Fixed,
        },
        results,
    };
    play(&play_args, sitting).await
}

/// The run's models: the agent's, unless nothing is played or somebody else does it, and the judge's.
fn open_models(chosen: &Chosen, mode: Mode) -> Result<Option<OpenModels>, Failure> {
    let mut args = chosen.models.clone();
    if mode == Mode::ValidateOnly || chosen.plays_elsewhere() {
        args.model = None;
        args.base_url = None;
    }
    if args.model.is_some() || chosen.judge.judge.is_some() {
        return args.open().map(Some);
    }
    if args.tape.is_some() || args.record_tape.is_some() {
        return Err(Failure::new(
            "whose calls are on the tape? Name the model with --model, or the judge with --judge",
        ));
    }
    Ok(None)
}

/// A runner asks its model itself: nothing but the name is known here.
fn model_elsewhere(chosen: &Chosen, mode: Mode) -> Option<ModelStamp> {
    let name = chosen.models.model.as_deref();
    let name = name.filter(|_| mode != Mode::ValidateOnly && chosen.plays_elsewhere())?;
    let base_url = chosen.models.base_url.as_deref();
    Some(model_stamp::elsewhere(name, base_url))
}

/// The model whose work is judged: the one of now, or of the time when it was played.
fn judged<'a>(
    chosen: &'a Chosen,
    open: &'a OpenModels,
    elsewhere: Option<&'a ModelStamp>,
    mode: Mode,
) -> Option<Player<'a>> {
    let old = chosen.earlier.manifest.as_ref();
    let recorded = old.and_then(|old| old.models.first());
    match (&open.model, recorded.filter(|_| mode == Mode::ValidateOnly)) {
        (_, Some(stamp)) => Some(Player::Stamped(stamp)),
        (Some(model), None) => Some(Player::Open(model.spec())),
        (None, None) => elsewhere.map(Player::Stamped),
    }
}

/// Better said before hours of playing than after them.
fn tell_of_judges(loaded: &Loaded) {
    let waiting = loaded
        .tasks
        .iter()
        .filter(|task| task.needs_judge())
        .count() as u64;
    if waiting > 0 {
        let all = output::count(loaded.tasks.len() as u64, "task");
        let verb = if waiting == 1 { "needs" } else { "need" };
        output::say(&format!(
            "note: {waiting} of {all} {verb} a judge: name one with --judge, or they wait"
        ));
    }
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
    let left = left(args.play.mode.into(), chosen, loaded)?;
    if args.play.json {
        list::print_json(&left)?
    } else {
        output::data(&list::text(&left))?
    }
    Ok(Exit::Done)
}

/// The tasks of which a trial would be played or graded again. A run that is there already is only looked at.
fn left(mode: Mode, chosen: &Chosen, loaded: &Loaded) -> Result<Loaded, Failure> {
    let mut tasks = loaded.tasks.clone();
    let (count, epochs) = (tasks.len() as u64, u64::from(chosen.epochs));
    let folder = chosen.earlier.folder.as_ref().map(RunFolder::at);
    match folder.filter(RunFolder::has_manifest) {
        Some(folder) => {
            let judge = chosen.judge.judge.is_some();
            let asked = Asked { mode, judge };
            let trials = agon_engine::preview(&folder, &tasks, chosen.epochs, asked)?;
            let left: u64 = trials.iter().copied().map(u64::from).sum();
            let verb = match mode {
                Mode::RunAll | Mode::RerunFailed => "run",
                Mode::ValidateOnly => "grade again",
            };
            output::say(&format!(
                "ready to {verb} {left} of {} in {}:",
                output::count(count * epochs, "trial"),
                folder.path().display()
            ));
            let mut trials = trials.into_iter();
            tasks.retain(|_| trials.next().is_some_and(|left| left > 0));
        }
        None => output::say(&format!(
            "ready to run {} x {}:",
            output::count(count, "task"),
            output::count(epochs, "epoch")
        )),
    }
    Ok(Loaded {
        suites: loaded.suites.clone(),
        tasks,
        builds: Vec::new(),
    })
}
