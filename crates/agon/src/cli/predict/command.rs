//! From arguments to items, a model that predicts, and a run.

use std::sync::Arc;

use agon_agent::AgentFactory;
use agon_core::{Clock, Digest, Seed, SystemClock};
use agon_predict::data::read;
use agon_predict::fixtures::{Fixture, Group, variants};
use agon_predict::{ActionModel, Item, LanguageModel, Predictor, showable};
use agon_store::SuiteStamp;

use super::args::PredictArgs;
use super::choice::{recall, remembered};
use crate::cli::args::ModeArg;
use crate::cli::contest::Entry;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::llm::OpenModels;
use crate::cli::load::Loaded;
use crate::cli::manifest::Growth;
use crate::cli::play::{Earlier, Sitting, play};

/// Questions wait for answers, not for processors; how many are asked at once is decided by what the
/// service can take.
const AT_ONCE: usize = 32;

pub(in crate::cli) async fn predict(args: &PredictArgs) -> Result<Exit, Failure> {
    let clock = SystemClock::default();
    let began = clock.monotonic();
    let earlier = Earlier::of(&args.play)?;
    let mut args = args.clone();
    args.drop_repeated();
    if let Some(why) = args.without_effect() {
        return Err(Failure::new(why));
    }
    if let Some(old) = &earlier.manifest {
        recall(&mut args, old)?;
    }
    let Some(name) = args.play.models.model.clone() else {
        return Err(Failure::new(
            "which model? Give one with --model, such as `agon predict --model local/smollm2`; \
             `agon llm list` shows them all",
        ));
    };
    let model: Arc<dyn ActionModel> = Arc::new(LanguageModel::new(args.options(name.clone())));
    let (items, loaded) = items(&args, &model)?;
    // Grading again asks nobody.
    let opened = match args.play.mode {
        ModeArg::ValidateOnly => None,
        _ => Some(args.play.models.open()?),
    };
    if let Some(model) = opened.as_ref().and_then(|open| open.model.as_ref()) {
        showable(&items, model.spec()).map_err(Failure::new)?;
    }
    let entry = Entry {
        agent: name.clone(),
        tape: opened.as_ref().and_then(OpenModels::tape),
        config: None,
        session: None,
        models: opened
            .iter()
            .filter_map(|open| open.model.clone())
            .collect(),
        seed: seed(&args),
        epochs: args.play.epochs.unwrap_or(1),
        dates_from: earlier
            .manifest
            .as_ref()
            .map_or_else(|| clock.now(), |old| old.dates_from),
        selection: remembered(&args),
        model_elsewhere: None,
        judge: None,
        own_files: Vec::new(),
        agent_files: Vec::new(),
        played_by: None,
    };
    let predictor = Predictor::new(model, opened.and_then(|open| open.model), items);
    let sitting = Sitting {
        command: Some("predict"),
        began,
        clock: Arc::new(clock),
        loaded,
        entry,
        own_agent: Some(AgentFactory::of(name, Box::new(predictor))),
        earlier,
        workers: AT_ONCE,
        growth: Growth::Fixed,
        results: None,
    };
    play(&args.play, sitting).await
}

fn seed(args: &PredictArgs) -> u64 {
    args.play.seed.unwrap_or(0)
}

/// What is asked, and the tasks that it comes to.
fn items(args: &PredictArgs, model: &Arc<dyn ActionModel>) -> Result<(Vec<Item>, Loaded), Failure> {
    let of_items = |items: &[Item]| items.iter().map(Item::task).collect::<Vec<_>>();
    if let Some(path) = &args.data {
        let (items, digest) = read(path, &args.data_options(), model).map_err(Failure::new)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let stamp = SuiteStamp {
            name: stem.into_owned(),
            path: real.display().to_string(),
            digest,
        };
        let loaded = Loaded {
            suites: vec![stamp],
            tasks: of_items(&items),
            builds: Vec::new(),
        };
        return Ok((items, loaded));
    }
    let groups = match &args.fixtures[..] {
        [] => &Group::ALL[..],
        chosen => chosen,
    };
    let made = groups.iter().flat_map(|group| of_group(*group, args));
    let items = made.map(|fixture| Item::of_fixture(&fixture, model));
    let items: Vec<Item> = items.collect::<Result<_, _>>().map_err(Failure::new)?;
    let names: Vec<&str> = groups.iter().map(|group| group.name()).collect();
    let tasks = of_items(&items);
    let stamp = SuiteStamp {
        name: "predict".to_owned(),
        path: format!("fixtures:{}", names.join(",")),
        digest: Digest::of_parts(tasks.iter().map(|task| &task.digest.bytes()[..])),
    };
    let suites = vec![stamp];
    let loaded = Loaded {
        suites,
        tasks,
        builds: Vec::new(),
    };
    Ok((items, loaded))
}

fn of_group(group: Group, args: &PredictArgs) -> Vec<Fixture> {
    match args.variants {
        None => vec![group.fixture()],
        Some(count) => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let screen = args.max_screen_size.unwrap_or_default();
            variants(group, Seed(seed(args)), screen, count).collect()
        }
    }
}
