//! Runs the machine: starts plays, stops them, and tells of their ends. Every play has a thread of its
//! own; no lock is held while anything waits.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_agent::play::{Cause, Stop, Task};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::machine::{Asker, Machine, Notice, PlayId, Refused};
use super::runner::{End, Outcome, Runner};
use super::teller::Teller;
use crate::constants::TIMES;
use crate::wire::{AgentFinished, Events, PeerUrl, Status};

/// The evaluator is told when a play has ended with all its hooks, but not later than this after the
/// last step.
const HOOKS: Duration = Duration::from_millis(200);

/// The evaluator ends a task whose time is up. If it has not by so much later, the agent does.
const GRACE: Duration = Duration::from_secs(10);

pub(super) struct Control {
    inner: Mutex<Inner>,
    runner: Arc<dyn Runner>,
    teller: Teller,
    events: Events,
    /// The last play that is over. Ids only grow.
    over: watch::Sender<PlayId>,
    runtime: Handle,
}

struct Inner {
    machine: Machine,
    /// Of the play that runs or ran last.
    stop: Stop,
}

/// What came of asking a task to stop.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It is over, and ended so.
    InTime(Option<AgentFinished>),
    Still,
}

impl Control {
    pub(super) fn new(runner: Arc<dyn Runner>, teller: Teller, runtime: Handle) -> Arc<Self> {
        let machine = Machine::new();
        Arc::new(Self {
            events: Events::new(machine.name()),
            inner: Mutex::new(Inner {
                machine,
                stop: Stop::new(),
            }),
            runner,
            teller,
            over: watch::Sender::new(PlayId::default()),
            runtime,
        })
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }

    pub(super) fn status(&self) -> Status {
        self.inner().machine.status()
    }

    pub(super) fn register(&self, evaluator: PeerUrl) -> Result<(), Refused> {
        self.change(|inner| inner.machine.register(evaluator))
    }

    pub(super) fn start(self: &Arc<Self>, task: Task) -> Result<(), Refused> {
        let stop = Stop::new();
        let id = self.change(|inner| {
            let id = inner.machine.start(task.clone())?;
            inner.stop = stop.clone();
            Ok(id)
        })?;
        let control = Arc::clone(self);
        let name = task.task_id.clone();
        let play = move || control.play(id, &task, &stop);
        let thread = std::thread::Builder::new().name("arena-play".to_owned());
        if let Err(error) = thread.spawn(play) {
            let outcome = Outcome::failed(format!("can't start a thread: {error}"));
            self.ended(id, outcome.told(&name));
        }
        Ok(())
    }

    fn play(self: &Arc<Self>, id: PlayId, task: &Task, stop: &Stop) {
        let control = Arc::clone(self);
        let task_id = task.task_id.clone();
        let steps_over = Box::new(move |outcome: &Outcome| {
            control.steps_over(id, outcome.told(&task_id));
        });
        let outcome = match self.watch(id, task, stop) {
            Ok(()) => self.runner.play(task, stop, steps_over),
            Err(error) => Outcome::failed(format!("can't start a thread: {error}")),
        };
        // Lets go whoever waits for it.
        stop.ask(Cause::Asked);
        self.ended(id, outcome.told(&task.task_id));
    }

    /// Sees to it that the play has an end, and that the evaluator is told when a person has stopped
    /// it, be the agent stuck or not.
    fn watch(self: &Arc<Self>, id: PlayId, task: &Task, stop: &Stop) -> io::Result<()> {
        let within = Duration::from_secs(task.timeout) + GRACE;
        let (control, stop, task_id) = (Arc::clone(self), stop.clone(), task.task_id.clone());
        let watch = move || {
            if !stop.wait(within) {
                stop.ask(Cause::Timeout);
            }
            let end = match stop.cause() {
                Some(cause @ (Cause::Operator | Cause::Timeout)) => End::Stopped(cause),
                // By who knows of it; or it is over.
                _ => return,
            };
            control.steps_over(id, Outcome::of(end).told(&task_id));
        };
        let thread = std::thread::Builder::new().name("arena-watch".to_owned());
        thread.spawn(watch).map(drop)
    }

    /// Tells the evaluator of the end although hooks still run, if they run for long.
    fn steps_over(self: &Arc<Self>, id: PlayId, end: AgentFinished) {
        let control = Arc::clone(self);
        self.runtime.spawn(async move {
            sleep(HOOKS).await;
            let notice = control.inner().machine.steps_over(id, &end);
            control.tell(notice);
        });
    }

    fn ended(self: &Arc<Self>, id: PlayId, end: AgentFinished) {
        let notice = self.change(|inner| inner.machine.ended(id, end));
        self.over.send_modify(|over| *over = (*over).max(id));
        self.tell(notice);
    }

    fn tell(self: &Arc<Self>, notice: Option<Notice>) {
        let Some(notice) = notice else { return };
        let control = Arc::clone(self);
        let play = notice.play;
        self.runtime.spawn(async move {
            let holds = || control.inner().machine.is_last(play);
            control.teller.tell(notice, holds).await;
        });
    }

    /// Asks the task to stop and waits a while for its end. `meant`: only if it is this one.
    pub(super) async fn stop(&self, asker: Asker, meant: Option<&str>) -> Result<Stopped, Refused> {
        let id = self.change(|inner| {
            let id = inner.machine.stop(asker, meant)?;
            inner.stop.ask(match asker {
                Asker::Evaluator => Cause::Asked,
                Asker::Operator => Cause::Operator,
            });
            Ok(id)
        })?;
        Ok(self.wait_for(id).await)
    }

    /// Ends what is played, whether it wants or not.
    pub(super) async fn kill(&self) -> Stopped {
        let (playing, stop) = self.change(|inner| {
            // One that stops already is only abandoned.
            let _ = inner.machine.stop(Asker::Operator, None);
            inner.stop.ask(Cause::Operator);
            (inner.machine.playing(), inner.stop.clone())
        });
        let runner = Arc::clone(&self.runner);
        // An agent that is dropped may have much to say.
        let abandoned = self.runtime.spawn_blocking(move || runner.abandon(&stop));
        let _ = timeout(TIMES::TASK_CLEANUP_TIMEOUT, abandoned).await;
        match playing {
            Some(id) => self.wait_for(id).await,
            None => Stopped::InTime(None),
        }
    }

    /// As if the server had just been started.
    pub(super) async fn reset(&self) -> Result<(), Refused> {
        self.kill().await;
        self.change(|inner| inner.machine.reset())
    }

    async fn wait_for(&self, id: PlayId) -> Stopped {
        let mut over = self.over.subscribe();
        let reached = over.wait_for(|over| *over >= id);
        match timeout(TIMES::TASK_CLEANUP_TIMEOUT, reached).await {
            Ok(Ok(_)) => Stopped::InTime(self.status().ended),
            _ => Stopped::Still,
        }
    }

    /// The server ends.
    pub(super) fn end(&self) {
        self.runtime.block_on(self.kill());
    }

    /// Does something with the machine and lets all know of the new state.
    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.inner();
        let changed = change(&mut inner);
        // While it is locked, so that nobody sees states in another order.
        self.events.tell(inner.machine.change());
        changed
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
