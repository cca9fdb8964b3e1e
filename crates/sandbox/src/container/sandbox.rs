//! One container as a sandbox. Owns the container: it is removed when this is dropped.

use std::collections::HashMap;
use std::net::TcpListener;
use std::time::Duration;

use agon_core::ByteSize;
use agon_core::files::FileTree;
use async_trait::async_trait;
use bollard::models::{ContainerState, EventMessage};
use bollard::query_parameters::{EventsOptions, KillContainerOptions, WaitContainerOptions};
use futures_util::StreamExt;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::engine::{Engine, failed};
use super::folder::Folder;
use super::pause::Pause;
use super::processes::END_ALL_NUMBER;
use super::run_as::RunAs;
use super::{changes, files, freeze, leftovers, overlay};
use crate::activity::Activity;
use crate::archive::WorkArchive;
use crate::changes::{Changes, Words};
use crate::contract::{DROP_LINE, Exec, ExecOutput, Frozen, Moment, Piped, Sandbox, Terminal};
use crate::error::SandboxError;
use crate::local::OpenNetwork;

/// What an engine may take to notice that a container has ended.
const NOTICED: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct ContainerSandbox {
    owned: OwnedContainer,
    run_as: RunAs,
    disk: ByteSize,
    pause: Pause,
}

impl ContainerSandbox {
    pub(super) fn new(owned: OwnedContainer, run_as: RunAs, disk: ByteSize) -> Self {
        Self {
            owned,
            run_as,
            disk,
            pause: Pause::default(),
        }
    }
}

/// Names a container of an engine.
#[derive(Debug, Clone)]
pub(super) struct Container {
    pub(super) engine: Engine,
    pub(super) name: String,
    pub(super) folder: Folder,
}

/// A container that is removed with everything in it when this is dropped.
#[derive(Debug)]
pub(super) struct OwnedContainer {
    pub(super) container: Container,
    /// Its way out, where we opened it.
    pub(super) network: Option<OpenNetwork>,
    runtime: Handle,
    /// The engine has said that it is there.
    pub(super) created: bool,
    removed: bool,
}

/// When a removal is tried again for a container that was not there yet, in milliseconds.
const AGAIN: [u64; 4] = [100, 200, 400, 800];

/// Deadline for a removal. What is left then is found by its owner label.
pub(super) const REMOVAL: Duration = Duration::from_secs(60);

impl OwnedContainer {
    pub(super) fn new(engine: Engine, name: String, folder: Folder) -> Self {
        Self {
            container: Container {
                engine,
                name,
                folder,
            },
            network: None,
            runtime: Handle::current(),
            created: false,
            removed: false,
        }
    }
}

impl Drop for OwnedContainer {
    fn drop(&mut self) {
        if !self.removed {
            let container = self.container.clone();
            let removals = container.engine.removals.clone();
            let created = self.created;
            let removal = async move {
                container.remove().await;
                if !created {
                    // Given up while it was being made: the engine may come to it after us.
                    for pause in AGAIN {
                        sleep(Duration::from_millis(pause)).await;
                        container.remove().await;
                    }
                }
            };
            removals.spawn_on(removal, &self.runtime);
        }
    }
}

impl Container {
    /// Whether it is gone now.
    async fn remove(&self) -> bool {
        let removal = leftovers::remove(&self.engine.docker, &self.name);
        matches!(timeout(REMOVAL, removal).await, Ok(Ok(())))
    }

    /// Sends a signal to its first process.
    pub(super) async fn signal(&self, signal: &str) -> Result<(), SandboxError> {
        let options = KillContainerOptions {
            signal: signal.to_owned(),
        };
        self.engine
            .docker
            .kill_container(&self.name, Some(options))
            .await
            .map_err(failed("could not signal the container"))
    }

    /// An error when it has ended, or does so within the moment that an engine may need to notice.
    pub(super) async fn remains(&self) -> Result<(), SandboxError> {
        let docker = &self.engine.docker;
        let mut end = docker.wait_container(&self.name, None::<WaitContainerOptions>);
        match timeout(NOTICED, end.next()).await {
            Err(_) => Ok(()),
            Ok(_) => Err(self.obituary("the container has ended".to_owned()).await),
        }
    }

    /// Comes back when it has ended, and says why. Asks only after a moment, in which most calls are over.
    pub(super) async fn end(&self) -> SandboxError {
        sleep(NOTICED).await;
        let docker = &self.engine.docker;
        let mut end = docker.wait_container(&self.name, None::<WaitContainerOptions>);
        end.next().await;
        self.obituary("the container has ended".to_owned()).await
    }

    /// Whether a signal from outside may have ended it, which engines remember for a while: what they do, they report
    /// at once. The signal by which we end everything but its first process is not meant. Where an engine does not
    /// report, it may have been.
    async fn was_signalled(&self) -> bool {
        let only = |key: &str, value: &str| (key.to_owned(), vec![value.to_owned()]);
        let options = EventsOptions {
            since: Some("0".to_owned()),
            until: None,
            filters: Some(HashMap::from([
                only("container", &self.name),
                only("event", "kill"),
            ])),
        };
        let events = self.engine.docker.events(Some(options));
        let mut fatal = Box::pin(events.filter(|event| {
            let signal = event.as_ref().ok().and_then(signal_of);
            std::future::ready(signal.as_deref() != Some(END_ALL_NUMBER))
        }));
        timeout(NOTICED, fatal.next()).await.is_ok()
    }

    /// Why nothing works in it any more.
    pub(super) async fn obituary(&self, symptom: String) -> SandboxError {
        let inspected = self.engine.docker.inspect_container(&self.name, None).await;
        let state = match inspected.map_err(failed("could not look at the container")) {
            Ok(container) => container.state.unwrap_or_default(),
            Err(error) => return SandboxError::Gone(format!("{symptom} ({error})")),
        };
        match state {
            ContainerState {
                oom_killed: Some(true),
                running: Some(false),
                ..
            } => SandboxError::OutOfMemory,
            ContainerState {
                running: Some(false),
                ..
            } if !self.was_signalled().await => SandboxError::Ended(symptom),
            _ => SandboxError::Gone(symptom),
        }
    }
}

/// The number of the signal that an engine reports to have sent.
fn signal_of(event: &EventMessage) -> Option<String> {
    event
        .actor
        .as_ref()?
        .attributes
        .as_ref()?
        .get("signal")
        .cloned()
}

#[async_trait]
impl Sandbox for ContainerSandbox {
    async fn exec(&self, exec: &Exec) -> Result<ExecOutput, SandboxError> {
        self.owned.container.run(exec).await
    }

    async fn spawn(&self, exec: &Exec) -> Result<Piped, SandboxError> {
        self.owned.container.spawn(exec).await
    }

    async fn terminal(&self, exec: &Exec) -> Result<Terminal, SandboxError> {
        self.owned.container.terminal(exec).await
    }

    async fn kill_command(&self, shell: u32, since: Moment) -> Result<bool, SandboxError> {
        let [shell, pid] = [shell, since.pid].map(|pid| pid.to_string());
        let tick = since.tick.to_string();
        let arguments = ["command", &shell, DROP_LINE, &tick, &pid];
        self.owned.container.kill(&arguments).await
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, SandboxError> {
        files::read(&self.owned.container, path, limit).await
    }

    async fn find(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        files::find(&self.owned.container, path, limit).await
    }

    async fn write(&self, path: &str, content: &[u8]) -> Result<(), SandboxError> {
        files::write(&self.owned.container, path, content).await
    }

    async fn copy_in(&self, tree: &FileTree, into: &str) -> Result<(), SandboxError> {
        files::copy_in(&self.owned.container, tree, into, &self.run_as).await
    }

    async fn unpack(&self, archive: &WorkArchive) -> Result<(), SandboxError> {
        // A folder of the host is not ours to empty.
        if self.run_as.work.is_none() && !archive.is_of_new_folder() {
            files::empty(&self.owned.container).await?;
        }
        files::unpack(&self.owned.container, archive).await
    }

    async fn replaced(&self) -> Result<Vec<String>, SandboxError> {
        changes::replaced(&self.owned.container).await
    }

    async fn remains(&self) -> Result<(), SandboxError> {
        self.owned.container.remains().await
    }

    async fn listen(&self, port: u16) -> Result<TcpListener, SandboxError> {
        self.owned.container.listen(port).await
    }

    async fn activity(&self) -> Option<Activity> {
        self.owned.container.activity().await
    }

    async fn pause(&self) -> Result<(), SandboxError> {
        self.pause.begin(&self.owned.container).await
    }

    async fn resume(&self) -> Result<(), SandboxError> {
        self.pause.end(&self.owned.container).await
    }

    async fn freeze(&mut self) -> Result<Frozen, SandboxError> {
        let disk = self.run_as.work.is_none().then_some(self.disk);
        freeze::freeze(&self.owned.container, disk).await
    }

    async fn kill(&mut self, beside: bool) -> Result<Frozen, SandboxError> {
        let disk = self.run_as.work.is_none().then_some(self.disk);
        freeze::kill(&self.owned.container, disk, beside).await
    }

    async fn snapshot(&mut self) -> Result<Frozen, SandboxError> {
        let disk = self.run_as.work.is_none().then_some(self.disk);
        freeze::snapshot(&self.owned.container, disk).await
    }

    async fn lay_over(&self, changes: &Changes, words: &Words) -> Result<(), SandboxError> {
        overlay::lay_over(&self.owned.container, changes, words).await
    }

    async fn destroy(mut self: Box<Self>) {
        self.owned.removed = self.owned.container.remove().await;
    }
}
