//! `agon lint`: what reading the files shows, then what playing shows: an agent that does nothing
//! must fail every task, and the task's own solution must pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::verdict::Outcome;
use agon_core::{Clock, SystemClock, Task, TaskId};
use agon_engine::{Dispatch, Mode, RunBudget, RunEnd, Unwatched};
use agon_sandbox::container::ContainerProvider;
use agon_store::{RunFolder, RunReader, SuiteStamp, TrialLine};
use agon_suite::{Finding, Severity};
use tokio_util::sync::CancellationToken;

use super::args::{LintArgs, SelectionArgs};
use super::contest::{Contest, Entry};
use super::exit::Exit;
use super::failure::Failure;
use super::load::{Loaded, load_all, stamps};
use super::{host, output, signals};

pub(super) async fn lint(args: &LintArgs) -> Result<Exit, Failure> {
    let clock = SystemClock::default();
    let suites = load_all(&args.suites, &SelectionArgs::default(), &clock)?;
    let mut findings: Vec<Finding> = suites.iter().flat_map(agon_suite::lint).collect();
    let stamps = stamps(&suites);
    let builds: Vec<_> = suites
        .iter()
        .flat_map(|suite| suite.builds.clone())
        .collect();
    let tasks: Vec<Task> = suites.into_iter().flat_map(|suite| suite.tasks).collect();
    let count = tasks.len() as u64;
    let mut played = 0;
    if !args.only_static {
        let no_engine = no_engine(&tasks).await;
        let mut playable = Vec::new();
        for task in tasks {
            match unplayable(&task, no_engine.as_deref()) {
                Some(why) => findings.push(not_played(&task, &why)),
                None => playable.push(task),
            }
        }
        played = playable.len();
        if !playable.is_empty() {
            agon_engine::make_images(&builds, output::say).await;
            match play_both(playable, &stamps, args).await? {
                Some(found) => findings.extend(found),
                None => return Ok(Exit::Interrupted),
            }
        }
    }
    findings.sort_by(|a, b| (a.severity, &a.task).cmp(&(b.severity, &b.task)));
    show(&findings, args.json)?;
    let of = |severity| {
        findings
            .iter()
            .filter(|found| found.severity == severity)
            .count() as u64
    };
    let errors = of(Severity::Error);
    output::say(&format!(
        "{} read, {played} played: {}, {}, {}",
        output::count(count, "task"),
        output::count(errors, "error"),
        output::count(of(Severity::Warning), "warning"),
        output::count(of(Severity::Note), "note")
    ));
    Ok(if errors == 0 { Exit::Done } else { Exit::Bad })
}

/// Why a task can't be played and graded here, if so.
fn unplayable(task: &Task, no_engine: Option<&str>) -> Option<String> {
    if task.unplayable.is_some() {
        Some("its row is wrong".to_owned())
    } else if task.needs_judge() {
        Some("it needs a judge".to_owned())
    } else if task.environment.is_container() {
        no_engine.map(str::to_owned)
    } else {
        None
    }
}

fn not_played(task: &Task, why: &str) -> Finding {
    Finding {
        task: task.id.clone(),
        severity: Severity::Note,
        message: format!("not played: {why}"),
    }
}

/// What keeps containers from being used, if any task wants one.
async fn no_engine(tasks: &[Task]) -> Option<String> {
    let wanted = tasks.iter().any(|task| task.environment.is_container());
    if !wanted {
        return None;
    }
    ContainerProvider::connect()
        .await
        .err()
        .map(|error| error.to_string())
}

fn show(findings: &[Finding], json: bool) -> Result<(), Failure> {
    for found in findings {
        if json {
            output::json(found)?;
        } else {
            let message = output::plain(&found.message);
            output::data(&format!(
                "{:<7} {}: {message}",
                found.severity.name(),
                found.task
            ))?;
        }
    }
    Ok(())
}

/// The null run and the oracle run; `None` when interrupted.
async fn play_both(
    tasks: Vec<Task>,
    suites: &[SuiteStamp],
    args: &LintArgs,
) -> Result<Option<Vec<Finding>>, Failure> {
    let stop = signals::stop_on_signal(signals::RESUMABLE)?;
    let workers = args.workers.map_or_else(host::cpus, usize::from);
    let solved: Vec<Task> = tasks
        .iter()
        .filter(|task| task.solution.on_host().is_some())
        .cloned()
        .collect();
    let Some(null) = play(tasks, "noop", workers, suites, &stop).await? else {
        return Ok(None);
    };
    let Some(oracle) = play(solved, "oracle", workers, suites, &stop).await? else {
        return Ok(None);
    };
    let mut findings = Vec::new();
    for line in null.values().filter(|line| line.outcome != Outcome::Failed) {
        findings.push(match &line.fault {
            Some(fault) => error(
                line,
                format!("could not be graded after doing nothing: {fault}"),
            ),
            None => error(
                line,
                "passes untouched: an agent that does nothing scores".to_owned(),
            ),
        });
    }
    for line in null
        .values()
        .filter(|line| line.outcome == Outcome::Failed && line.score > 0.0)
    {
        findings.push(Finding {
            severity: Severity::Warning,
            ..error(
                line,
                format!(
                    "doing nothing already gets {:.0} % of the score",
                    line.score * 100.0
                ),
            )
        });
    }
    for line in oracle
        .values()
        .filter(|line| line.outcome != Outcome::Passed)
    {
        findings.push(match &line.fault {
            Some(fault) => error(line, format!("its solution could not be graded: {fault}")),
            None => error(line, format!("its own solution fails: {}", line.reason)),
        });
    }
    Ok(Some(findings))
}

fn error(line: &TrialLine, message: String) -> Finding {
    Finding {
        task: line.task.clone(),
        severity: Severity::Error,
        message,
    }
}

/// Plays in a run folder that is thrown away.
async fn play(
    tasks: Vec<Task>,
    agent: &str,
    workers: usize,
    suites: &[SuiteStamp],
    stop: &CancellationToken,
) -> Result<Option<BTreeMap<TaskId, TrialLine>>, Failure> {
    if tasks.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let count = output::count(tasks.len() as u64, "task");
    output::say(&format!("playing {count} with {agent}"));
    let place = tempfile::tempdir()?;
    let folder = RunFolder::at(place.path().join("lint"));
    let _lock = folder.lock()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let entry = Entry {
        agent: agent.to_owned(),
        models: Vec::new(),
        config: None,
        session: None,
        tape: None,
        seed: 0,
        epochs: 1,
        dates_from: clock.now(),
        selection: BTreeMap::new(),
        model_elsewhere: None,
        judge: None,
        own_files: Vec::new(),
        agent_files: Vec::new(),
        played_by: None,
    };
    let loaded = Loaded {
        suites: suites.to_vec(),
        tasks,
        builds: Vec::new(),
    };
    let contest = Contest::enter(loaded, &entry, None, &folder, clock).await?;
    folder.write_manifest(&contest.manifest)?;
    let options = Dispatch {
        workers,
        memory: host::memory() / 4 * 3,
        retries: 1,
        budget: RunBudget::default(),
    };
    let end = contest
        .play(&folder, Mode::RunAll, &options, Arc::new(Unwatched), stop)
        .await?;
    if end == RunEnd::Interrupted {
        return Ok(None);
    }
    let mut lines = RunReader::open(folder.path())?.trials()?;
    lines.retain(|line| line.is_final);
    Ok(Some(
        lines
            .into_iter()
            .map(|line| (line.task.clone(), line))
            .collect(),
    ))
}
