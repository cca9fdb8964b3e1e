//! `agon run`: from arguments to a run folder, a report and an exit status.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::clock::FixedClock;
use agon_core::{Clock, SystemClock};
use agon_engine::{Dispatch, Mode, RunBudget, RunEnd};
use agon_report::{Format, Headline, RunReport, render};
use agon_store::{Manifest, RunFolder, RunReader};

use super::args::{ModeArg, RunArgs, SelectionArgs};
use super::contest::{Contest, Entry};
use super::exit::Exit;
use super::failure::Failure;
use super::load::Loaded;
use super::report::{RUNS, find_run};
use super::{host, list, manifest, output, progress, signals};

pub(super) async fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let clock = SystemClock::default();
    let began = clock.monotonic();
    let chosen = Chosen::from(args)?;
    let old = chosen.old.as_ref();
    let dates_from = old.map_or_else(|| clock.now(), |old| old.dates_from);
    let loaded = Loaded::read(&chosen.suites, &chosen.selection, &FixedClock(dates_from))?;
    if args.dry_run {
        return dry_run(args, &chosen, &loaded);
    }

    let stop = signals::stop_on_signal(signals::RESUMABLE)?;
    let folder = match &chosen.folder {
        Some(path) => RunFolder::at(path),
        None => RunFolder::fresh(Path::new(RUNS), clock.now(), &loaded.name(), &chosen.agent)?,
    };
    let _lock = folder.lock()?;
    let mode = args.mode.into();
    let entry = Entry {
        agent: chosen.agent.clone(),
        seed: chosen.seed,
        epochs: chosen.epochs,
        dates_from,
        selection: remembered(&chosen.selection),
        played_by: old
            .filter(|_| mode == Mode::ValidateOnly)
            .map(|old| old.agent.clone()),
    };
    let clock: Arc<dyn Clock> = Arc::new(clock);
    let entered = Contest::enter(loaded, &entry, &folder, Arc::clone(&clock));
    let begun = entered.await.and_then(|contest| {
        manifest::settle(&folder, old, &contest.manifest, mode)?;
        Ok(contest)
    });
    let contest = begun.inspect_err(|_| discard_if_unused(&folder))?;
    output::say(&format!("run folder: {}", folder.path().display()));
    if contest.manifest.agent.unconfined {
        output::say("note: the agent runs unconfined on this machine; reports will say so");
    }
    let options = Dispatch {
        workers: args.workers.map_or_else(host::cpus, usize::from),
        memory: host::memory() / 4 * 3,
        retries: args.retries,
        budget: RunBudget {
            steps: args.budget_steps,
            time: args.budget_seconds.map(Duration::from_secs),
            tokens: args.budget_tokens,
            money: args.budget_money,
        },
    };
    let watch = progress::watch().into();
    let new = contest.manifest.clone();
    let end = contest.play(&folder, mode, &options, watch, &stop).await?;
    let graded = matches!(end, RunEnd::Complete | RunEnd::Ungraded(_));
    if let (Mode::ValidateOnly, true, Some(old)) = (mode, graded, old) {
        manifest::regraded(&folder, old, &new)?;
    }
    let seconds = clock.monotonic().saturating_sub(began).as_secs_f64();
    conclude(args, &folder, end, seconds)
}

/// The arguments, completed by the run that is gone on with.
#[derive(Debug)]
struct Chosen {
    suites: Vec<PathBuf>,
    selection: SelectionArgs,
    agent: String,
    seed: u64,
    epochs: u32,
    folder: Option<PathBuf>,
    old: Option<Manifest>,
}

impl Chosen {
    fn from(args: &RunArgs) -> Result<Self, Failure> {
        let folder = match (&args.out, &args.resume) {
            (Some(out), _) => Some(out.clone()),
            (None, Some(name)) => Some(find_run(name)?),
            (None, None) => None,
        };
        let old = match folder
            .as_ref()
            .map(RunFolder::at)
            .filter(RunFolder::has_manifest)
        {
            Some(folder) => Some(folder.read_manifest()?),
            None => None,
        };
        let mut chosen = Self {
            suites: args.suites.clone(),
            selection: args.selection.clone(),
            agent: args.agent.clone().unwrap_or_else(|| "noop".to_owned()),
            seed: args.seed.unwrap_or(0),
            epochs: args.epochs.unwrap_or(1),
            folder,
            old,
        };
        if args.resume.is_some()
            && let Some(old) = chosen.old.clone()
        {
            chosen.complete(args, &old)?;
        }
        if args.mode == ModeArg::ValidateOnly && chosen.old.is_none() {
            return Err(Failure::new(
                "which run is to be graded again? Give it with --resume RUN or --out DIR",
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
        if args.agent.is_none() {
            self.agent.clone_from(&old.agent.spec);
        }
        self.seed = args.seed.unwrap_or(old.seed);
        self.epochs = args.epochs.unwrap_or(old.epochs);
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

/// Budgets are told by what they count; the flag for time is in seconds.
fn budget_flag(what: &str) -> &str {
    if what == "time" { "seconds" } else { what }
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
    if args.json {
        list::print_json(loaded)?
    } else {
        output::data(&list::text(loaded))?
    }
    Ok(Exit::Done)
}

/// A run that could not begin leaves no folder behind.
fn discard_if_unused(folder: &RunFolder) {
    if !folder.has_manifest() {
        std::fs::remove_file(folder.path().join("run.lock")).ok();
        std::fs::remove_dir(folder.path()).ok();
    }
}

/// How many trials ended in a fault that another try could mend.
fn mendable(reader: &RunReader) -> Result<u64, Failure> {
    let mut count = 0;
    reader.for_each_trial(|line| {
        let fault = line.fault.filter(|_| line.is_final);
        count += u64::from(fault.is_some_and(|fault| fault.class.retryable()));
    })?;
    Ok(count)
}

fn conclude(
    args: &RunArgs,
    folder: &RunFolder,
    end: RunEnd,
    seconds: f64,
) -> Result<Exit, Failure> {
    let reader = RunReader::open(folder.path())?;
    let report = RunReport::new(reader.manifest(), &reader)?;
    let mut headline = Headline::new(reader.manifest(), &report.summary, seconds);
    headline.run = folder.path().display().to_string();
    let graded = headline.passed + headline.failed;
    let complete = graded == headline.trials;
    let table = render(
        Format::Table(output::screen(!args.json && output::to_terminal())),
        &[report],
    )?;
    if args.json {
        output::say(&table);
        output::json(&headline)?;
    } else {
        output::data(&table)?;
    }
    let unfinished = match end {
        RunEnd::Interrupted => Some("interrupted".to_owned()),
        RunEnd::BudgetSpent(what) => Some(format!("the run's budget of {what} is spent")),
        RunEnd::Ungraded(count) => {
            let trials = output::count(count, "trial");
            output::say(&format!(
                "{trials} could not be graded again and keep their verdicts"
            ));
            None
        }
        RunEnd::Complete => match mendable(&reader)? {
            0 => None,
            faults => Some(format!("{} faulted", output::count(faults, "trial"))),
        },
    };
    if let Some(why) = unfinished {
        let path = folder.path().display();
        // Budgets are those of one command, so that going on needs a new one or none.
        let more = match end {
            RunEnd::BudgetSpent(what) => format!(" --budget-{} MORE", budget_flag(what)),
            _ => String::new(),
        };
        output::say(&format!(
            "{why}; go on with: agon run --resume {path}{more}"
        ));
    }
    Ok(match (end, args.fail_under) {
        (RunEnd::Interrupted, _) => Exit::Interrupted,
        (RunEnd::Ungraded(_), _) => Exit::Faults,
        _ if !complete => Exit::Faults,
        (_, Some(least)) if headline.score.is_none_or(|score| score < least) => Exit::Under,
        _ => Exit::Done,
    })
}
