//! One attempt as a typestate machine: Setup -> Running -> Frozen -> Graded. Each step consumes the
//! phase before it, so that nothing can be graded that was not frozen, and no agent can act on
//! something that is being graded. A fault ends the attempt in any phase and keeps its record.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::user::{Respondent, UserContext};
use agon_core::environment::Grading;
use agon_core::event::Phase;
use agon_core::verdict::{TurnEnd, Verdict};
use agon_core::{
    Action, CutOff, EnvironmentKind, EventBody, Fault, FaultClass, RanCommand, Source, Task,
};
use agon_desktop::{Desktop, ServerState};
use agon_sandbox::{Changes, Owner, Request, Sandbox, SandboxError, WorkArchive};
use agon_store::TrialLine;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::apps::Apps;
use crate::attempt::{Attempt, Job, Spender};
use crate::elsewhere;
use crate::eyes::Eyes;
use crate::furnish::furnish;
use crate::grading;
use crate::halt::Halt;
use crate::hand_in;
use crate::keep::{keep_changes, keep_work};
use crate::programs::Programs;
use crate::realtime::{self, Ground};
use crate::seat::Seat;
use crate::seen::Seen;
use crate::stage::Stage;
use crate::started_ahead::StartedAhead;
use crate::table::Table;
use crate::turns::{self, Turn};
use crate::workbench::{Tools, Workbench};

/// Ending all processes and taking the working folder.
const FREEZE: Duration = Duration::from_secs(60);

/// Killing a container and taking all that was changed in it, which may be much.
const KILL: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub struct Trial<P> {
    attempt: Attempt,
    phase: P,
}

#[derive(Debug)]
pub struct Setup;

#[derive(Debug)]
pub struct Running {
    seat: Option<Seat>,
}

#[derive(Debug)]
pub struct Frozen {
    pub(crate) sandbox: Option<Box<dyn Sandbox>>,
    pub(crate) cut_off: CutOff,
    /// `None` where the environment has none, or the agent brought it down.
    pub(crate) work: Option<WorkArchive>,
    /// Beside the working folder, in a container that was killed.
    pub(crate) changes: Option<Changes>,
    pub(crate) actions: Vec<Action>,
    pub(crate) result: Option<String>,
    pub(crate) seen: Seen,
    /// What commands of checks printed, where the trial was played elsewhere.
    pub(crate) commands: Option<Vec<RanCommand>>,
    /// Where the first check will run, if that could be known.
    pub(crate) ahead: Option<StartedAhead>,
    /// The desktop of a container. It holds a folder that the container is shown: an engine that
    /// misses it finds no files at all.
    _desktop: Option<Arc<Desktop>>,
    /// They ended in the cut. Ending them once more must not touch what grades inside of a container.
    _apps: Apps,
}

#[derive(Debug)]
pub struct Graded {
    verdict: Verdict,
}

/// An attempt that a fault ended.
#[derive(Debug)]
pub struct Faulted {
    attempt: Attempt,
    fault: Fault,
}

type Next<P> = Result<Trial<P>, Box<Faulted>>;

/// Plays one attempt from its first phase to its last. The error is that of writing the record.
pub async fn play(table: &Arc<Table>, job: Job, halt: Halt) -> io::Result<TrialLine> {
    match Box::pin(play_phases(Trial::begin(table, job, halt))).await {
        Ok(graded) => graded.close(),
        Err(faulted) => match table.writer.trouble() {
            // Nobody plays again for a disk that is full: that is the end of the run.
            Some(error) if faulted.fault.class == FaultClass::Evidence => Err(error),
            _ => faulted.attempt.faulted(faulted.fault),
        },
    }
}

async fn play_phases(trial: Trial<Setup>) -> Next<Graded> {
    trial.set_up().await?.play().await?.grade().await
}

impl<P> Trial<P> {
    /// Moves on, or ends here with the fault.
    fn then<Q>(self, next: Result<Q, Fault>) -> Next<Q> {
        let attempt = self.attempt;
        match next {
            Ok(phase) => Ok(Trial { attempt, phase }),
            Err(fault) => Err(Box::new(Faulted { attempt, fault })),
        }
    }
}

impl Trial<Setup> {
    pub fn begin(table: &Arc<Table>, job: Job, halt: Halt) -> Self {
        let mut attempt = Attempt::new(table, job);
        halt.begun(attempt.recorder.began());
        attempt.halt = halt;
        Self {
            attempt,
            phase: Setup,
        }
    }

    /// A fresh environment with the task's files in it, set up.
    pub async fn set_up(mut self) -> Next<Running> {
        let seat = prepare(&mut self.attempt).await;
        self.then(seat.map(|seat| Running { seat }))
    }
}

async fn prepare(attempt: &mut Attempt) -> Result<Option<Seat>, Fault> {
    attempt.enter(Phase::Setup)?;
    if let Some(why) = &attempt.task().unplayable {
        return Err(Fault::new(FaultClass::Setup, why));
    }
    let table = Arc::clone(&attempt.table);
    if table.agents.elsewhere().is_some() {
        return Ok(None);
    }
    let task = Arc::clone(&attempt.job.task);
    let began = table.clock.monotonic();
    attempt.programs = table.programs.of(&task).await?;
    let shown = attempt.programs.as_deref();
    let request = request(&table, &task, attempt.trial.to_string(), shown);
    let ready = async {
        let seat = match task.environment.kind {
            EnvironmentKind::None => return Ok(None),
            EnvironmentKind::Desktop => Seat::with_desktop(&table.providers, request).await?,
            EnvironmentKind::Local | EnvironmentKind::Container => {
                Seat::plain(&table.providers, &request).await?
            }
        };
        let mut seat = seat;
        let furnished = match furnish(seat.sandbox.as_ref(), &task).await {
            Ok(()) => seat.open(&task).await,
            Err(fault) => Err(fault),
        };
        match furnished {
            Ok(()) => Ok(Some(seat)),
            Err(fault) => {
                table.removals.take(seat.sandbox).await;
                end_desktop(seat.desktop).await;
                Err(fault)
            }
        }
    }
    .await;
    attempt.book(Spender::Environment, began);
    ready
}

impl Trial<Running> {
    /// The agent's turn, then the cut: whatever it started is dead before this returns.
    pub async fn play(mut self) -> Next<Frozen> {
        let (mut sandbox, desktop, apps) = match self.phase.seat.take() {
            Some(seat) => (Some(seat.sandbox), seat.desktop, seat.apps),
            None => (None, None, Apps::default()),
        };
        let frozen = run_and_freeze(&mut self.attempt, &mut sandbox, desktop, apps).await;
        if let (Err(_), Some(sandbox)) = (&frozen, sandbox.take()) {
            self.attempt.table.removals.take(sandbox).await;
        }
        self.then(frozen)
    }
}

async fn run_and_freeze(
    attempt: &mut Attempt,
    sandbox: &mut Option<Box<dyn Sandbox>>,
    desktop: Option<Arc<Desktop>>,
    apps: Apps,
) -> Result<Frozen, Fault> {
    attempt.enter(Phase::Running)?;
    let task = Arc::clone(&attempt.job.task);
    if attempt.table.agents.elsewhere().is_some() {
        let turn = elsewhere::take(attempt).await;
        return freeze(attempt, sandbox, turn, None).await;
    }
    let turn = take_turn(attempt, sandbox.as_deref(), desktop.as_ref(), &apps, &task).await;
    let (inside, ours) = match desktop {
        Some(desktop) if desktop.is_within_reach() => (Some(desktop), None),
        desktop => (None, desktop),
    };
    let frozen = freeze(attempt, sandbox, turn, ours.as_ref()).await;
    end_desktop(ours).await;
    frozen.map(|frozen| Frozen {
        _desktop: inside,
        _apps: apps,
        ..frozen
    })
}

/// The cut: ends the agent's programs and takes what they left.
async fn freeze(
    attempt: &mut Attempt,
    sandbox: &mut Option<Box<dyn Sandbox>>,
    turn: Result<Turn, Fault>,
    desktop: Option<&Arc<Desktop>>,
) -> Result<Frozen, Fault> {
    let turn = turn?;
    turns::calls(attempt, None)?;
    let turn = Turn {
        end: attempt.models.end(turn.end)?,
        ..turn
    };
    attempt.turn_ended(turn.end)?;
    let unseen = turn.seen.last.is_none() && looks_at_screen(attempt.task());
    let lost = turn.end == TurnEnd::ScreenLost || unseen;

    attempt.enter(Phase::Frozen)?;
    let ahead = start_ahead(attempt);
    let (cut_off, work, changes) = match sandbox {
        None => (CutOff::after_freeze(), None, None),
        Some(sandbox) => match cut(sandbox.as_mut(), attempt.task()).await? {
            Ok(frozen) => (frozen.cut_off, Some(frozen.work), frozen.changes),
            // By our own limits, or because nobody can kill what it left: the agent did this, and there is
            // nothing left to grade.
            Err(error) if error.of_agent() => {
                attempt.end_note = None;
                attempt.turn_ended(TurnEnd::BroughtDown)?;
                (CutOff::after_freeze(), None, None)
            }
            Err(error) => return Err(fault_of(&error)),
        },
    };
    let sandbox = match sandbox.take() {
        Some(killed) if is_killed(attempt.task()) => {
            attempt.table.removals.take(killed).await;
            None
        }
        other => other,
    };
    if let (true, Some(desktop)) = (lost, desktop) {
        lost_by_whom(attempt, desktop).await?;
    }
    if let Some(archive) = &work {
        attempt.left_out = archive.left_out();
        keep_work(attempt, archive).await?;
    }
    if let Some(changes) = &changes {
        keep_changes(attempt, changes).await?;
    }
    Ok(Frozen {
        sandbox,
        cut_off,
        work,
        changes,
        actions: turn.actions,
        result: turn.result,
        seen: turn.seen,
        commands: turn.commands,
        ahead,
        _desktop: None,
        _apps: Apps::default(),
    })
}

/// A sandbox for the first check, where checks run programs in fresh ones and the agent's own is killed meanwhile.
fn start_ahead(attempt: &Attempt) -> Option<StartedAhead> {
    let task = attempt.task();
    let wanted =
        attempt.table.agents.elsewhere().is_none() && is_killed(task) && looks_beside(task);
    wanted.then(|| StartedAhead::new(&attempt.table, grading::fresh_request(attempt)))?
}

/// Whether the agent's environment is gone before anything is graded.
fn is_killed(task: &Task) -> bool {
    task.environment.is_container() && hand_in::graded_afresh(task)
}

/// Whether a check can look at what is not in the working folder.
fn looks_beside(task: &Task) -> bool {
    task.checks_run_programs() && !hand_in::runs_programs(task)
}

/// Cuts the agent off in the way that the task's checks want it.
async fn cut(
    sandbox: &mut dyn Sandbox,
    task: &Task,
) -> Result<Result<agon_sandbox::Frozen, SandboxError>, Fault> {
    let limit = match task.environment.is_container() {
        true => KILL,
        false => FREEZE,
    };
    let cutting = async {
        match task.environment.grading {
            _ if is_killed(task) => sandbox.kill(looks_beside(task)).await,
            Grading::Alive => sandbox.snapshot().await,
            Grading::Fresh | Grading::Used => sandbox.freeze().await,
        }
    };
    timeout(limit, cutting)
        .await
        .map_err(|_| late("freezing the environment", limit))
}

/// Any program on a desktop can cut others off from its X server, drive it out of memory, make it crash or keep
/// it busy: then the screen is lost, and what was done is graded as it stands. It is our own loss only if
/// somebody outside has killed or stopped the server, which nobody inside can.
async fn lost_by_whom(attempt: &mut Attempt, desktop: &Arc<Desktop>) -> Result<(), Fault> {
    let desktop = Arc::clone(desktop);
    let state = spawn_blocking(move || {
        match Desktop::connect(desktop.address()).is_ok_and(|x| x.answers()) {
            true => Some(ServerState::Runs),
            false => desktop.server_state(),
        }
    });
    let state = state.await;
    let how = match state.map_err(|error| Fault::new(FaultClass::Internal, error))? {
        Some(ServerState::Runs) => return Ok(()),
        Some(ServerState::Ended(how)) => {
            let note = format!("{how}, by what its clients asked of it");
            return attempt
                .record(Source::Harness, None, EventBody::Note(note))
                .map(drop);
        }
        Some(ServerState::Disturbed(how)) => how,
        None => "nobody knows how its X server ended".to_owned(),
    };
    let why = attempt.end_note.clone().unwrap_or_default();
    Err(Fault::new(
        FaultClass::Environment,
        format_args!("{why}; {how}"),
    ))
}

async fn take_turn(
    attempt: &mut Attempt,
    sandbox: Option<&dyn Sandbox>,
    desktop: Option<&Arc<Desktop>>,
    apps: &Apps,
    task: &Task,
) -> Result<Turn, Fault> {
    let eyes = match desktop {
        Some(desktop) => Some(Eyes::open(desktop, sandbox, attempt).await?),
        None => None,
    };
    let user = open_user(attempt, task)?;
    let mut workbench = Workbench::new(Tools {
        limits: task.limits.clone(),
        cwd: task.environment.cwd.clone(),
        shell_log: attempt.recorder.folder().join("logs").join("shell.log"),
        lint: false,
    });
    let stage = Stage::new(sandbox, eyes, apps, task, user, &mut workbench);
    match (&task.realtime, sandbox, desktop) {
        (Some(rules), Some(sandbox), Some(desktop)) => {
            let ground = Ground {
                sandbox,
                desktop,
                apps,
                rules,
            };
            realtime::take(attempt, stage, ground).await
        }
        (Some(_), ..) => Err(Fault::new(
            FaultClass::Setup,
            "a task in real time needs a desktop: environment: {kind: desktop}",
        )),
        (None, ..) => turns::take(attempt, stage).await,
    }
}

/// Who answers the agent's messages.
pub(crate) fn open_user(attempt: &Attempt, task: &Task) -> Result<Box<dyn Respondent>, Fault> {
    let context = UserContext {
        instruction: task.instruction.show(),
        seed: attempt.job.seed,
        account: &attempt.models.of_user,
    };
    attempt
        .table
        .users
        .open(task.user.on_host(), &context)
        .map_err(|error| Fault::new(FaultClass::ModelSetup, error))
}

/// A private X server ends here, before evidence is looked at; that takes a moment.
async fn end_desktop(desktop: Option<Arc<Desktop>>) {
    let end = move || {
        if let Some(desktop) = desktop {
            // Somebody may still hold it: a call that took too long.
            desktop.end();
        }
    };
    spawn_blocking(end).await.ok();
}

impl Trial<Frozen> {
    /// Checks run on the frozen evidence, where the agent never was or, if the task says so, where it was.
    pub async fn grade(mut self) -> Next<Graded> {
        let verdict = grading::grade(&mut self.attempt, &self.phase).await;
        if let Some(sandbox) = self.phase.sandbox.take() {
            self.attempt.table.removals.take(sandbox).await;
        }
        let graded = verdict.and_then(|verdict| {
            for check in &verdict.checks {
                self.attempt
                    .record(Source::Grader, None, EventBody::Check(check.clone()))?;
            }
            self.attempt
                .record(Source::Grader, None, EventBody::Verdict(verdict.clone()))?;
            self.attempt.enter(Phase::Graded)?;
            Ok(Graded { verdict })
        });
        self.then(graded)
    }
}

pub(crate) fn request(
    table: &Table,
    task: &Task,
    trial: String,
    programs: Option<&Programs>,
) -> Request {
    Request {
        environment: task.environment.clone(),
        owner: Owner {
            run: table.run.clone(),
            trial,
        },
        read_only: programs.map(Programs::shown).into_iter().collect(),
        display: None,
        work: None,
        start: task.limits.start.duration(),
    }
}

/// Whether there should be a last screen for the checks.
pub(crate) fn looks_at_screen(task: &Task) -> bool {
    task.environment.kind == EnvironmentKind::Desktop && task.asks_for_sight()
}

impl Trial<Graded> {
    pub fn close(self) -> io::Result<TrialLine> {
        self.attempt.graded(&self.phase.verdict)
    }
}

pub(crate) fn late(what: &str, limit: Duration) -> Fault {
    Fault::new(
        FaultClass::Timeout,
        format_args!("{what} took longer than {} s", limit.as_secs_f64()),
    )
}

pub(crate) fn fault_of(error: &SandboxError) -> Fault {
    Fault::new(error.fault_class(), error)
}
