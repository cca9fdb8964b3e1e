//! Makes local sandboxes: takes a place, starts bubblewrap, waits for the init, sets limits.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agon_core::Environment;
use agon_core::environment::Network;
use async_trait::async_trait;
use rustix::net::sockopt::set_socket_passcred;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::body::{Body, Witness};
use super::bubblewrap;
use super::filter;
use super::link::Link;
use super::network::Uplink;
use super::run::{memory_file, sealed};
use super::sandbox::LocalSandbox;
use super::scratch::Scratch;
use super::slot::{Slot, Slots};
use super::worker::{Worker, start};
use crate::contract::{Provider, Request, Sandbox};
use crate::error::SandboxError;
use crate::hidden::Hidden;
use crate::init::wire::{Ask, Rlimits};
use crate::limits::Enforcement;
use crate::mounted::Mounted;
use crate::reaper::{OwnerMark, reap_dead_owners};

const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// How long the end of the process waits for its sandboxes to be gone.
const LAST_BURIAL: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct LocalConfig {
    /// An executable that runs [`crate::init::main`] when it is given `init_args`.
    pub init: PathBuf,
    pub init_args: Vec<String>,
    /// Folders of the host that are shown in no sandbox, wherever they lie.
    pub hidden: Vec<PathBuf>,
}

impl LocalConfig {
    /// The running executable is its own init, if its `main` looks for
    /// [`crate::init::ARGUMENT`].
    pub fn own_executable() -> io::Result<Self> {
        Ok(Self {
            init: std::env::current_exe()?,
            init_args: vec![crate::init::ARGUMENT.to_owned()],
            hidden: Vec::new(),
        })
    }

    /// Adds folders that no sandbox may show: suites and runs.
    #[must_use]
    pub fn hiding(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(folders);
        self
    }
}

#[derive(Debug)]
pub struct LocalProvider {
    bubblewrap: PathBuf,
    init_args: Vec<String>,
    scratch: Arc<Scratch>,
    hidden: Hidden,
    /// Of system calls.
    filter: Vec<u8>,
    uplink: OnceLock<Uplink>,
    slots: Arc<Slots>,
}

impl LocalProvider {
    /// Also removes what dead owners left.
    pub fn new(config: LocalConfig) -> Result<Self, SandboxError> {
        let bubblewrap = bubblewrap::find()?;
        reap_dead_owners();
        let owner = OwnerMark::current().map_err(SandboxError::io("cannot name ourselves"))?;
        Ok(Self {
            bubblewrap,
            init_args: config.init_args,
            scratch: Arc::new(Scratch::new(owner, &config.init)?),
            hidden: Hidden::new(config.hidden),
            filter: filter::program(),
            uplink: OnceLock::new(),
            slots: Slots::new(owner, Enforcement::detect()),
        })
    }

    async fn start(&self, request: &Request) -> Result<LocalSandbox, SandboxError> {
        let start = |error: io::Error| SandboxError::Start(error.to_string());
        let work = request.work.as_deref().map(Mounted::new).transpose()?;
        if let Some(work) = &work {
            work.must_suit(&request.environment)?;
            work.must_not_hold(self.scratch.folder())?;
        }
        let slot = self.slots.take().map_err(start)?;
        let uplink = match request.environment.network {
            Network::None => None,
            Network::Open => Some(self.uplink()?),
        };
        let (ours, theirs) = sockets().map_err(start)?;
        let words = memory_file().map_err(start)?;
        let link = Link::new(ours).map_err(start)?;
        let slot = Arc::new(slot);
        let spawn = |stdin| self.spawn(request, work.as_ref(), Arc::clone(&slot), stdin, &words);
        let mut body = match uplink {
            None => spawn(theirs).await.map_err(start)?,
            Some(uplink) => {
                let (control, their_control) = sockets().map_err(start)?;
                let mut body = spawn(their_control).await.map_err(start)?;
                let user = slot.user();
                let user = work
                    .as_ref()
                    .map_or(user, |owner| user.and(Some(owner.user)));
                let network = uplink.open(control, theirs, user).await;
                if let Some(network) = network.map_err(start)? {
                    enter(&slot, network.program()).await.map_err(start)?;
                    body.keep(network);
                }
                body
            }
        };
        let environment = &request.environment;
        let limited = limit(&slot, body.bubblewrap(), environment);
        let witness = Witness::new(words, Arc::clone(&slot));
        let Some(pid) = link.hello().await.map_err(start)? else {
            return Err(bubblewrap::explain(&witness.words()));
        };
        body.watch(pid);
        limited
            .await
            .map_err(io::Error::other)
            .flatten()
            .map_err(start)?;
        enter(&slot, pid).await.map_err(start)?;
        let limits = own_limits(&slot, environment);
        let scratch = Arc::clone(&self.scratch);
        let sandbox = LocalSandbox::new(link, body, witness, scratch, request);
        let env = environment.env.clone();
        let apart = request.display.is_some();
        sandbox.tell(Ask::Go { limits, env, apart }).await?;
        Ok(sandbox)
    }

    /// What open networks are made with, found when the first is needed.
    fn uplink(&self) -> Result<&Uplink, SandboxError> {
        if let Some(uplink) = self.uplink.get() {
            return Ok(uplink);
        }
        let found = Uplink::find()?;
        let made = self.scratch.open_network(&found.resolver());
        made.map_err(SandboxError::io("cannot write a resolv.conf"))?;
        Ok(self.uplink.get_or_init(|| found))
    }

    async fn spawn(
        &self,
        request: &Request,
        work: Option<&Mounted>,
        slot: Arc<Slot>,
        socket: OwnedFd,
        stderr: &File,
    ) -> io::Result<Body> {
        let mut command = bubblewrap::command(
            &self.bubblewrap,
            &self.scratch,
            &self.hidden,
            &self.init_args,
            slot.user(),
            request,
            work,
        );
        command
            .stdin(socket)
            .stdout(sealed(&self.filter)?)
            .stderr(stderr.try_clone()?);
        let (started, body) = oneshot::channel::<io::Result<Body>>();
        Worker::spawner()?.run(move || {
            // If nobody waits for it any more, it is dropped, and so buried.
            let _ = started.send(start(&mut command).map(|child| Body::new(child, slot)));
        });
        let gone = |_| io::Error::other("the spawner is gone");
        body.await.map_err(gone)?
    }
}

/// Two ends of a conversation. The kernel tells us the other's pid with its hello, translated into our numbering.
fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    set_socket_passcred(&ours, true)?;
    Ok((ours, theirs))
}

/// Limits the control group and puts bubblewrap into it. After a pause the kernel takes longer for a
/// move than bubblewrap for a start, and then none for the next: so this happens meanwhile.
fn limit(
    slot: &Arc<Slot>,
    bubblewrap: Option<Pid>,
    environment: &Environment,
) -> JoinHandle<io::Result<()>> {
    let memory = bubblewrap::memory_limit(environment);
    let processes = bubblewrap::process_limit(environment);
    let slot = Arc::clone(slot);
    spawn_blocking(move || {
        if let Some(group) = slot.group() {
            group.limit(memory, processes)?;
            // One that has ended already is missed soon enough.
            let _ = bubblewrap.map(|pid| group.add(pid));
        }
        Ok(())
    })
}

/// Puts the init under the limits of its control group.
async fn enter(slot: &Arc<Slot>, init: Pid) -> io::Result<()> {
    if slot.group().is_none() {
        return Ok(());
    }
    let slot = Arc::clone(slot);
    let entered = spawn_blocking(move || slot.group().map_or(Ok(()), |group| group.add(init)));
    entered.await.map_err(io::Error::other)?
}

/// Those that the init must put on itself.
fn own_limits(slot: &Slot, environment: &Environment) -> Rlimits {
    let grouped = slot.group().is_some();
    Rlimits {
        file_size: environment.disk.0,
        processes: (!grouped).then(|| bubblewrap::process_limit(environment)),
        memory: (!grouped).then_some(environment.memory.0),
    }
}

impl Drop for LocalProvider {
    /// Sandboxes that were dropped just now are still being buried, and hold their groups.
    fn drop(&mut self) {
        let (done, buried) = std::sync::mpsc::channel();
        if let Ok(undertaker) = Worker::undertaker() {
            undertaker.run(move || {
                let _ = done.send(());
            });
            let _ = buried.recv_timeout(LAST_BURIAL);
        }
    }
}

#[async_trait]
impl Provider for LocalProvider {
    async fn prepare(&self, request: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        let sandbox = timeout(request.start, self.start(request)).await;
        let sandbox = sandbox.map_err(|_| SandboxError::Timeout {
            what: "starting the sandbox",
            seconds: request.start.as_secs_f64(),
        })??;
        Ok(Box::new(sandbox))
    }

    async fn describe(&self) -> Result<String, SandboxError> {
        let mut command = Command::new(&self.bubblewrap);
        command.arg("--version").kill_on_drop(true);
        let output = timeout(VERSION_DEADLINE, command.output()).await;
        let output = output
            .map_err(|_| SandboxError::Timeout {
                what: "bwrap --version",
                seconds: VERSION_DEADLINE.as_secs_f64(),
            })?
            .map_err(SandboxError::io("cannot run bwrap"))?;
        let version = String::from_utf8_lossy(&output.stdout);
        Ok(format!("{}, {}", version.trim(), self.slots.enforcement()))
    }
}
