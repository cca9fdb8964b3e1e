//! Plays tasks in a child process, which is kept from task to task and started anew when it is gone.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_agent::play::{Cause, PlayConfig, Stop, Task};
use agon_core::WorldClock;
use agon_desktop::{Desktop, DesktopError, PanicKey};

use super::message::{FromChild, Start, ToChild};
use super::process::{Group, News, Process};
use super::release::Before;
use crate::agent_server::{End, Outcome, Runner, StepsOver, is_same, seed_of};
use crate::error::ArenaError;
use crate::server::ServerOptions;

/// A child that was asked to stop and has not ended its hooks by then is killed.
const HOOKS: Duration = Duration::from_secs(10);

/// One that was killed is gone by then, unless the kernel itself is stuck with it.
const BURIAL: Duration = Duration::from_secs(2);

/// Longer than any play.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// The program of an agent.
#[derive(Debug, Clone)]
pub struct ProcessAgent {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl ProcessAgent {
    /// Any program that speaks the lines of [`super`]; one that calls [`super::serve`] does.
    pub fn command(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
        }
    }

    /// This program once more; its `main` asks [`super::is_child`].
    pub fn this_executable(
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, ArenaError> {
        let program = std::env::current_exe().map_err(|source| ArenaError::Child {
            program: "this program".to_owned(),
            source,
        })?;
        Ok(Self::command(program, arguments))
    }

    fn start(&self) -> Result<Process, ArenaError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        Process::start(command).map_err(|source| ArenaError::Child {
            program: self.program.display().to_string(),
            source,
        })
    }
}

/// The runner of a server.
pub(crate) struct Child {
    agent: ProcessAgent,
    config: PlayConfig,
    /// The process that plays next.
    idle: Mutex<Option<Process>>,
    /// The one that plays.
    live: Mutex<Option<(Stop, Arc<Group>)>>,
}

impl Child {
    /// Starts the process, so that a program that is not there shows now.
    pub(crate) fn new(agent: ProcessAgent, options: &ServerOptions) -> Result<Self, ArenaError> {
        if let WorldClock::Paused { .. } = options.clock {
            return Err(ArenaError::Unsupported(
                "an agent in a process of its own can't stop the world; use another clock, or play \
                 in this process",
            ));
        }
        let config = PlayConfig {
            clock: options.clock,
            panic_key: options.panic_key,
            ..PlayConfig::new(options.display()?)
        };
        let child = Self {
            agent,
            config,
            idle: Mutex::new(None),
            live: Mutex::new(None),
        };
        let process = child.take()?;
        *lock(&child.idle) = Some(process);
        Ok(child)
    }

    fn take(&self) -> Result<Process, ArenaError> {
        if let Some(process) = lock(&self.idle).take()
            && process.group().is_fit()
        {
            return Ok(process);
        }
        self.agent.start()
    }

    fn converse(
        &self,
        process: &Process,
        config: &PlayConfig,
        (task, stop): (&Task, &Stop),
        steps_over: &StepsOver,
    ) -> Outcome {
        let start = ToChild::Start(Box::new(Start::new(task, config)));
        let mut lost = process.send(&start).err();
        let mut deadline = None;
        loop {
            if let Some(error) = lost.take() {
                process.group().kill();
                return self.gone(
                    stop,
                    format!("the agent's process does not listen: {error}"),
                );
            }
            if deadline.is_none()
                && let Some(cause) = stop.cause()
            {
                deadline = Some(Instant::now() + HOOKS);
                let stop = ToChild::Stop {
                    task_id: task.task_id.clone(),
                    operator: cause == Cause::Operator,
                };
                lost = process.send(&stop).err();
            }
            let patience = match deadline {
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
                None => FOR_EVER,
            };
            match process.news.recv_timeout(patience) {
                Ok(News::Said(FromChild::StepsOver(report))) if report.task_id == task.task_id => {
                    let outcome = report.outcome();
                    if outcome.end == End::Stopped(Cause::Operator) {
                        // Somebody stopped it over there: now it is stopped here as well.
                        stop.ask(Cause::Operator);
                    }
                    steps_over(&outcome);
                }
                Ok(News::Said(FromChild::Ended(report))) if report.task_id == task.task_id => {
                    return ended(report.outcome(), stop);
                }
                // Said of a task that is over; or asked, which the next round sees.
                Ok(News::Said(_) | News::Asked) => {}
                Ok(News::Gone(end)) => return self.gone(stop, end),
                Err(RecvTimeoutError::Disconnected) => {
                    return self.gone(stop, "the agent's process is gone".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if deadline.is_some() => {
                    process.group().kill();
                    return self.gone(stop, "the agent's process did not stop".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn gone(&self, stop: &Stop, error: String) -> Outcome {
        match stop.cause() {
            Some(cause) => Outcome::of(End::Stopped(cause)),
            None => Outcome::of(End::Lost(error)),
        }
    }
}

/// What is down before the play; and from now on the panic key stops it, whatever the child does.
fn ready(config: &PlayConfig, stop: &Stop) -> Result<(Before, Option<PanicKey>), DesktopError> {
    let desktop = Desktop::connect(&config.address)?;
    let before = Before::look(&desktop)?;
    let panic_key = config
        .panic_key
        .map(|key| PanicKey::watch(&desktop, key, Arc::clone(stop.signal())))
        .transpose()?;
    Ok((before, panic_key))
}

/// Whoever asked for the stop is known here best.
fn ended(outcome: Outcome, stop: &Stop) -> Outcome {
    match stop.cause() {
        Some(cause) => Outcome {
            end: End::Stopped(cause),
            ..outcome
        },
        None => outcome,
    }
}

impl Runner for Child {
    fn play(&self, task: &Task, stop: &Stop, steps_over: StepsOver) -> Outcome {
        let config = PlayConfig {
            seed: seed_of(task),
            ..self.config.clone()
        };
        let (before, panic_key) = match ready(&config, stop) {
            Ok(ready) => ready,
            Err(error) => return Outcome::failed(error.to_string()),
        };
        let process = match self.take() {
            Ok(process) => process,
            Err(error) => return Outcome::of(End::Lost(error.to_string())),
        };
        *lock(&self.live) = Some((stop.clone(), Arc::clone(process.group())));
        let outcome = match (stop.cause(), process.wake_at(stop)) {
            // Whoever gave it up before it was known to live.
            (Some(cause), _) => Outcome::of(End::Stopped(cause)),
            (None, Ok(())) => self.converse(&process, &config, (task, stop), &steps_over),
            (None, Err(error)) => Outcome::failed(format!("can't start a thread: {error}")),
        };
        *lock(&self.live) = None;
        // Lets go whoever waits for it.
        stop.ask(Cause::Asked);
        if process.group().is_fit() {
            *lock(&self.idle) = Some(process);
        } else {
            // Its last key comes before the keys are released.
            process.wait_for_end(BURIAL);
        }
        drop(panic_key);
        // A display that is gone has no keys down.
        let _ = before.restore(&config.address);
        outcome
    }

    fn abandon(&self, stop: &Stop) {
        if let Some((played, group)) = &*lock(&self.live)
            && is_same(played, stop)
        {
            group.kill();
        }
        // Dropped, it is killed.
        let idle = lock(&self.idle).take();
        drop(idle);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
