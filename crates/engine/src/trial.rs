//! One attempt as a typestate machine: Setup -> Running -> Frozen -> Graded. Each step consumes the
//! phase before it, so that nothing can be graded that was not frozen, and no agent can act on
//! something that is being graded. A fault ends the attempt in any phase and keeps its record.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::user::{Respondent, UserContext};
use agon_core::event::{Kept, Phase};
use agon_core::verdict::{TurnEnd, Verdict};
use agon_core::{
    Action, CutOff, EnvironmentKind, EventBody, Fault, FaultClass, RanCommand, Source, Task,
};
use agon_desktop::Desktop;
use agon_llm::Scrubber;
use agon_sandbox::{Owner, Request, Sandbox, SandboxError, WorkArchive};
use agon_store::TrialLine;
use agon_store::blobs::Stored;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::apps::Apps;
use crate::attempt::{Attempt, Job, Spender, evidence_lost};
use crate::elsewhere;
use crate::eyes::Eyes;
use crate::furnish::furnish;
use crate::grading;
use crate::halt::Halt;
use crate::programs::Programs;
use crate::realtime::{self, Ground};
use crate::seat::Seat;
use crate::seen::Seen;
use crate::stage::Stage;
use crate::table::Table;
use crate::turns::{self, Turn};
use crate::workbench::{Tools, Workbench};

/// Ending all processes and taking the working folder.
const FREEZE: Duration = Duration::from_secs(60);

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
    pub(crate) actions: Vec<Action>,
    pub(crate) result: Option<String>,
    pub(crate) seen: Seen,
    /// What commands of checks printed, where the trial was played elsewhere.
    pub(crate) commands: Option<Vec<RanCommand>>,
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
        Err(faulted) => faulted.attempt.faulted(faulted.fault),
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
    let frozen = freeze(attempt, sandbox, turn, ours.as_deref()).await;
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
    desktop: Option<&Desktop>,
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
    let (cut_off, work) = match sandbox {
        None => (CutOff::after_freeze(), None),
        Some(sandbox) => match timeout(FREEZE, sandbox.freeze()).await {
            Ok(Ok(frozen)) => (frozen.cut_off, Some(frozen.work)),
            // By our own limits: the agent did this, and there is nothing left to grade.
            Ok(Err(SandboxError::OutOfMemory)) => {
                attempt.end_note = None;
                attempt.turn_ended(TurnEnd::BroughtDown)?;
                (CutOff::after_freeze(), None)
            }
            Ok(Err(error)) => return Err(fault_of(&error)),
            Err(_) => return Err(late("freezing the environment", FREEZE)),
        },
    };
    if let (true, Some(desktop)) = (lost, desktop) {
        still_there(attempt, desktop).await?;
    }
    if let Some(archive) = &work {
        attempt.left_out = archive.left_out();
        keep(attempt, archive).await?;
    }
    Ok(Frozen {
        sandbox: sandbox.take(),
        cut_off,
        work,
        actions: turn.actions,
        result: turn.result,
        seen: turn.seen,
        commands: turn.commands,
        _desktop: None,
        _apps: Apps::default(),
    })
}

/// Any program on a desktop can cut others off from its X server. If the server answers again now that
/// they have ended, they did; if not, it is our own loss.
async fn still_there(attempt: &Attempt, desktop: &Desktop) -> Result<(), Fault> {
    let address = desktop.address().clone();
    let answers = spawn_blocking(move || Desktop::connect(&address).is_ok_and(|x| x.answers()));
    if answers.await.unwrap_or(false) {
        return Ok(());
    }
    let why = attempt.end_note.clone().unwrap_or_default();
    Err(Fault::new(FaultClass::Environment, why))
}

async fn take_turn(
    attempt: &mut Attempt,
    sandbox: Option<&dyn Sandbox>,
    desktop: Option<&Arc<Desktop>>,
    apps: &Apps,
    task: &Task,
) -> Result<Turn, Fault> {
    let eyes = match desktop {
        Some(desktop) => Some(Eyes::open(desktop, attempt).await?),
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

/// Stores the frozen working folder, so that the trial can be graded again.
async fn keep(attempt: &mut Attempt, archive: &WorkArchive) -> Result<(), Fault> {
    let writer = attempt.table.writer.clone();
    let cap = attempt.table.keep_work;
    let file = archive.open().map_err(|error| evidence_lost(&error))?;
    let stored = spawn_blocking(move || {
        // An agent may have put a key of ours into a file.
        let mut file = Scrubber::blotted(io::BufReader::new(file));
        writer.keep(&mut file, cap)
    })
    .await
    .map_err(|error| Fault::new(FaultClass::Internal, error))?
    .map_err(|error| evidence_lost(&error))?;
    let body = match stored {
        Stored::As { digest, bytes } => {
            attempt.work = Some(digest);
            EventBody::Kept(Kept {
                what: "work".to_owned(),
                blob: digest,
                bytes,
            })
        }
        Stored::TooLarge => EventBody::Note(format!(
            "the working folder was graded but not kept: {} bytes are over the cap of {cap}",
            archive.bytes()
        )),
    };
    attempt.record(Source::Harness, None, body).map(|_| ())
}

impl Trial<Frozen> {
    /// Checks run on the frozen evidence, where the agent never was or, in a container, where it can
    /// no longer act.
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
