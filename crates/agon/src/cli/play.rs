//! A run from its first trial to its exit status, whatever is played in it: `agon run` and `agon predict`
//! differ in what they load and whom they enter.

use std::collections::HashMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_agent::AgentFactory;
use agon_core::verdict::Outcome;
use agon_core::{Clock, Task};
use agon_engine::{Dispatch, Mode, RunBudget, RunEnd, Watch, has_evidence};
use agon_report::{Format, Headline, RunReport, render};
use agon_store::{Left, Manifest, Reviews, RunFolder, RunReader};

use super::args::{ModeArg, PlayArgs};
use super::contest::{Contest, Entry};
use super::exit::Exit;
use super::failure::Failure;
use super::load::Loaded;
use super::manifest::{Growth, Judgements};
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
    for note in &contest.notes {
        output::say(&output::plain(note));
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
    let mut watch: Arc<dyn Watch> = progress::watch(mode).into();
    let mut results = sitting.results;
    if let Some(results) = &mut results {
        results.begin(&folder)?;
        watch = results.watch(watch);
    }
    let tasks = contest.plan.tasks().to_vec();
    let regraded = match mode {
        Mode::ValidateOnly => {
            let new = contest.manifest.clone();
            let before = Judgements::of(&folder, &tasks, new.epochs)?;
            Some((new, before))
        }
        Mode::RunAll | Mode::RerunFailed => None,
    };
    let end = contest.play(&folder, mode, &options, watch, &stop).await?;
    if let Some(results) = &mut results {
        results.end(&folder)?;
    }
    if let (Some((new, before)), Some(old)) = (regraded, old) {
        let judge = before.judge(&folder, old, &new)?;
        match end {
            RunEnd::Complete | RunEnd::Ungraded(_) => {
                manifest::regraded(&folder, old, &new, judge)?;
            }
            RunEnd::Interrupted | RunEnd::BudgetSpent(_) | RunEnd::TapeOutdated => {
                manifest::judged(&folder, old, judge)?;
            }
        }
    }
    let seconds = clock.monotonic().saturating_sub(sitting.began);
    let seconds = seconds.as_secs_f64();
    conclude(args, sitting.command, &folder, &tasks, end, seconds)
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

/// How many trials ended in a fault.
#[derive(Debug, Default)]
struct Faults {
    /// In one that the same command may do better at.
    mendable: u64,
    /// For want of a judge, who can be asked about the record.
    unjudged: u64,
    /// For want of a judge, who can be asked only when they are played again.
    missed: u64,
}

impl Faults {
    fn of(reader: &RunReader, tasks: &[Arc<Task>]) -> Result<Self, Failure> {
        let reviews = Reviews::read(reader.folder())?;
        let tasks: HashMap<_, _> = tasks.iter().map(|task| (&task.id, task)).collect();
        let mut faults = Self::default();
        reader.for_each_trial(|line| {
            // What a person has decided waits for nobody.
            let open = line.is_final && reviews.outcome(&line) == Outcome::Faulted;
            let Some(fault) = line.fault.as_ref().filter(|_| open) else {
                return;
            };
            let kept = |task: &&Arc<Task>| has_evidence(task, Left::of(&line));
            let count = match tasks.get(&line.task).copied() {
                _ if fault.class.mendable() => &mut faults.mendable,
                Some(task) if !kept(&task) => &mut faults.missed,
                _ => &mut faults.unjudged,
            };
            *count += 1;
        })?;
        Ok(faults)
    }
}

fn waits(trials: u64) -> String {
    match trials {
        1 => "1 trial waits for a judge".to_owned(),
        many => format!("{many} trials wait for a judge"),
    }
}

fn conclude(
    args: &PlayArgs,
    command: Option<&str>,
    folder: &RunFolder,
    tasks: &[Arc<Task>],
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
    let faults = Faults::of(&reader, tasks)?;
    let unfinished = match end {
        RunEnd::Interrupted => Some("interrupted".to_owned()),
        RunEnd::BudgetSpent(what) => Some(format!("the run's budget of {what} is spent")),
        RunEnd::TapeOutdated => Some(
            "stopped: the tape has no answer to what the agent asks, so it is not of this agent and these \
             tasks; record it anew with --record-tape"
                .to_owned(),
        ),
        RunEnd::Ungraded(count) => {
            output::say(&match count {
                1 => "1 trial could not be graded again and keeps its verdict".to_owned(),
                many => format!("{many} trials could not be graded again and keep their verdicts"),
            });
            None
        }
        RunEnd::Complete => match faults.mendable {
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
    let path = folder.path().display();
    if faults.unjudged > 0 {
        let waits = waits(faults.unjudged);
        output::say(&format!("{waits}: agon validate {path} --judge NAME"));
    }
    if faults.missed > 0 {
        let waits = waits(faults.missed);
        output::say(&format!(
            "{waits} and left nothing to be judged by; played again by: {}",
            match command {
                Some(command) => format!("agon {command} --resume {path} --judge NAME"),
                None => "the same command with --judge NAME".to_owned(),
            }
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
