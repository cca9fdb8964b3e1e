//! Sandboxes that a hand-in is made in: fresh ones, in which no program of the agent's turn ever ran. What
//! goes wrong in them is ours for as long as nothing of the agent is there, and the agent's afterwards.

use std::time::Duration;

use agon_core::{Fault, FaultClass, Task};
use agon_sandbox::error::ENDING;
use agon_sandbox::{Exec, ExecOutput, Provider, Request, Sandbox, SandboxError, WorkArchive};
use tokio::time::timeout;

use crate::furnish::furnish;
use crate::removals::Removals;
use crate::trial::{fault_of, late};

/// What a sandbox may take for its own part of a call.
const GRACE: Duration = Duration::from_secs(30);

/// Taking the working folder.
const FREEZE: Duration = Duration::from_secs(60);

/// Why a hand-in came to nothing.
#[derive(Debug)]
pub(super) enum Stop {
    /// The agent's doing: nothing that could be graded.
    Spoiled(String),
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

#[derive(Debug)]
pub(super) struct Room<'a> {
    pub(super) sandbox: Box<dyn Sandbox>,
    removals: &'a Removals,
    /// For one program.
    limit: Duration,
}

/// Where rooms come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rooms<'a> {
    pub(super) provider: &'a dyn Provider,
    pub(super) request: &'a Request,
    pub(super) removals: &'a Removals,
    pub(super) task: &'a Task,
}

impl<'a> Rooms<'a> {
    /// With the task's own files in it, set up as for the agent.
    pub(super) async fn set_up(&self) -> Result<Room<'a>, Fault> {
        let room = self.empty().await?;
        match furnish(room.sandbox.as_ref(), self.task).await {
            Ok(()) => Ok(room),
            Err(fault) => {
                room.close().await;
                Err(fault)
            }
        }
    }

    pub(super) async fn empty(&self) -> Result<Room<'a>, Fault> {
        let most = self.request.start + GRACE;
        let sandbox = timeout(most, self.provider.prepare(self.request))
            .await
            .map_err(|_| late("a fresh sandbox", most))?
            .map_err(|error| fault_of(&error))?;
        Ok(Room {
            sandbox,
            removals: self.removals,
            limit: self.task.limits.check.duration(),
        })
    }
}

impl Room<'_> {
    /// Brings what the agent left.
    pub(super) async fn unpack(&self, work: &WorkArchive) -> Result<(), Stop> {
        let spoiled =
            |why: String| Stop::Spoiled(format!("the working folder could not be unpacked: {why}"));
        let most = self.limit + GRACE;
        match timeout(most, self.sandbox.unpack(work)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(
                error @ (SandboxError::Denied(_)
                | SandboxError::OutOfMemory
                | SandboxError::Timeout { .. }),
            )) => Err(spoiled(error.to_string())),
            Ok(Err(error)) => Err(Stop::Fault(fault_of(&error))),
            Err(_) => Err(spoiled(late("it", most).message)),
        }
    }

    /// Runs one program over what the agent left: what that breaks is the agent's doing.
    pub(super) async fn run(&self, exec: &Exec) -> Result<ExecOutput, Stop> {
        let most = exec.timeout + GRACE;
        match timeout(most, self.sandbox.exec(exec)).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(
                error @ (SandboxError::Denied(_)
                | SandboxError::OutOfMemory
                | SandboxError::Timeout { what: ENDING, .. }),
            )) => Err(Stop::Spoiled(error.to_string())),
            Ok(Err(error)) => Err(Stop::Fault(fault_of(&error))),
            Err(_) => Err(Stop::Fault(late("a hand-in", most))),
        }
    }

    /// Takes what is in the working folder now.
    pub(super) async fn freeze(&mut self) -> Result<WorkArchive, Stop> {
        match timeout(FREEZE, self.sandbox.freeze()).await {
            Ok(Ok(frozen)) => Ok(frozen.work),
            Ok(Err(error)) if error.of_agent() => Err(Stop::Spoiled(error.to_string())),
            Ok(Err(error)) => Err(Stop::Fault(fault_of(&error))),
            Err(_) => Err(Stop::Fault(late("freezing a hand-in", FREEZE))),
        }
    }

    /// Nobody waits for its end.
    pub(super) async fn close(self) {
        self.removals.take(self.sandbox).await;
    }

    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }
}

/// The task's own part gives no ground to grade on.
pub(super) fn bad_task(why: impl std::fmt::Display) -> Fault {
    Fault::new(FaultClass::Setup, why)
}
