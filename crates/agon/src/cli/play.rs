//! A run from its first trial to its exit status, whatever is played in it: `agon run` and `agon predict`
//! differ in what they load and whom they enter.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_agent::AgentFactory;
use agon_core::verdict::Outcome;
use agon_core::{Clock, FaultClass};
use agon_engine::{Dispatch, Mode, RunBudget, RunEnd, Watch};
use agon_report::{Format, Headline, RunReport, render};
use agon_store::{Manifest, Reviews, RunFolder, RunReader};

use super::args::{ModeArg, PlayArgs};
use super::contest::{Contest, Entry};
use super::exit::Exit;
use super::failure::Failure;
use super::load::Loaded;
use super::manifest::Growth;
use super::report::{RUNS, find_run};
use super::{host, manifest, output, progress, signals};

/// The run that is gone on with or graded again, if there is one.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) folder: Option<PathBuf>,
    pub(super) manifest: Option<Manifest>,
}

impl Earlier {
    pub(super) fn of(args: &PlayArgs) -> Result<Self, Failure> {
        let folder = match (&args.out, &args.resume) {
            (Some(out), _) => Some(out.clone()),
            (None, Some(name)) => Some(find_run(name)?),
            (None, None) => None,
        };
        let there = folder.as_ref().map(RunFolder::at);
        let manifest = match there.filter(RunFolder::has_manifest) {
            Some(folder) => Some(folder.read_manifest()?),
            None => None,
        };
        if args.mode == ModeArg::ValidateOnly && manifest.is_none() {
            return Err(Failure::new(
                "which run is to be graded again? Give it with --resume RUN or --out DIR",
            ));
        }
        Ok(Self { folder, manifest })
    }
}

/// Everything that is decided before a run begins.
#[derive(Debug)]
pub(super) struct Sitting {
    /// The subcommand that goes on with such a run by its name alone; `None`: only the same one does.
    pub(super) command: Option<&'static str>,
    pub(super) began: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) loaded: Loaded,
    pub(super) entry: Entry,
    /// One that is not named by a spec.
    pub(super) own_agent: Option<AgentFactory>,
    pub(super) earlier: Earlier,
    /// Trials at a time, unless the user says otherwise.
    pub(super) workers: usize,
    /// Whether further tasks may come to the run later.
    pub(super) growth: Growth,
    /// Result files beside those of the run folder.
    pub(super) results: Option<Box<dyn Results>>,
}

/// Files in another system's form that are written while a run goes on. They are views of the run folder.
pub(super) trait Results: Debug {
    /// Before the first trial; brings what is there up to date.
    fn begin(&mut self, folder: &RunFolder) -> Result<(), Failure>;
    /// Who is told of trials that end, and tells `inner`.
    fn watch(&self, inner: Arc<dyn Watch>) -> Arc<dyn Watch>;
    /// After the last trial of this command.
    fn end(&mut self, folder: &RunFolder) -> Result<(), Failure>;
}

pub(super) async fn play(args: &PlayArgs, sitting: Sitting) -> Result<Exit, Failure> {
    let mode = args.mode.into();
    let clock = sitting.clock;
    let old = sitting.earlier.manifest.as_ref();
    let stop = signals::stop_on_signal(signals::RESUMABLE)?;
    let mut entry = sitting.entry;
    let folder = match &sitting.earlier.folder {
        Some(path) => RunFolder::at(path),
        None => {
            let name = sitting.loaded.name();
            RunFolder::fresh(Path::new(RUNS), clock.now(), &name, &entry.agent)?
        }
    };
    let _lock = folder.lock()?;
    entry.played_by = old
        .filter(|_| mode == Mode::ValidateOnly)
        .map(|old| old.agent.clone());
    let own = sitting.own_agent;
    let entered = Contest::enter(sitting.loaded, &entry, own, &folder, Arc::clone(&clock));
    let begun = entered.await.and_then(|contest| {
        contest.check_money(&entry.models, args.budget_money)?;
        manifest::settle(&folder, old, &contest.manifest, mode, sitting.growth)?;
        Ok(contest)
    });
    let contest = begun.inspect_err(|_| discard_if_unused(&folder))?;
    output::say(&format!("run folder: {}", folder.path().display()));
    if contest.manifest.agent.unconfined {
        output::say("note: the agent runs unconfined on this machine; reports will say so");
    }
    let options = Dispatch {
        workers: args.workers.map_or(sitting.workers, usize::from),
        memory: host::memory() / 4 * 3,
        retries: args.retries,
        budget: RunBudget {
            steps: args.budget_steps,
            time: args.budget_seconds.map(Duration::from_secs),
            tokens: args.budget_tokens,
            money: args.budget_money,
        },
    };
    let mut watch: Arc<dyn Watch> = progress::watch().into();
    let mut results = sitting.results;
    if let Some(results) = &mut results {
        results.begin(&folder)?;
        watch = results.watch(watch);
    }
    let regraded = (mode == Mode::ValidateOnly).then(|| contest.manifest.clone());
    let end = contest.play(&folder, mode, &options, watch, &stop).await?;
    if let Some(results) = &mut results {
        results.end(&folder)?;
    }
    let graded = matches!(end, RunEnd::Complete | RunEnd::Ungraded(_));
    if let (Some(new), true, Some(old)) = (regraded, graded, old) {
        manifest::regraded(&folder, old, &new)?;
    }
    let seconds = clock.monotonic().saturating_sub(sitting.began);
    conclude(args, sitting.command, &folder, end, seconds.as_secs_f64())
}

/// Budgets are told by what they count; the flag for time is in seconds.
fn budget_flag(what: &str) -> &str {
    if what == "time" { "seconds" } else { what }
}

/// A run that could not begin leaves no folder behind.
fn discard_if_unused(folder: &RunFolder) {
    if !folder.has_manifest() {
        std::fs::remove_file(folder.path().join("run.lock")).ok();
        std::fs::remove_dir(folder.path()).ok();
    }
}

/// How many trials ended in a fault of such a class.
fn faults(reader: &RunReader, of: impl Fn(FaultClass) -> bool) -> Result<u64, Failure> {
    let reviews = Reviews::read(reader.folder())?;
    let mut count = 0;
    reader.for_each_trial(|line| {
        // What a person has decided waits for nobody.
        let open = line.is_final && reviews.outcome(&line) == Outcome::Faulted;
        let fault = line.fault.filter(|_| open);
        count += u64::from(fault.is_some_and(|fault| of(fault.class)));
    })?;
    Ok(count)
}

fn conclude(
    args: &PlayArgs,
    command: Option<&str>,
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
        RunEnd::Complete => match faults(&reader, FaultClass::mendable)? {
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
        output::say(&match command {
            Some(command) => format!("{why}; go on with: agon {command} --resume {path}{more}"),
            None => format!("{why}; the same command{more} goes on"),
        });
    }
    let unjudged = faults(&reader, FaultClass::unjudged)?;
    if unjudged > 0 {
        output::say(&format!(
            "{} for a judge: agon validate {} --judge NAME",
            match unjudged {
                1 => "1 trial waits".to_owned(),
                many => format!("{many} trials wait"),
            },
            folder.path().display()
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
