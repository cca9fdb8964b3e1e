//! `cmd-host:PROGRAM ARGS`: any program, as an ordinary process with all of the user's rights.
//! Reports say so. It is killed with its whole process group, and dies with us where the system
//! can see to that.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use agon_core::{Brief, Digest, Observation};
use agon_llm::Model;
use agon_llm::config::key_variables;
use agon_sandbox::{Exit, Piped};
use async_trait::async_trait;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::bundle::Bundle;
use crate::contract::{Agent, AgentError, Answer};
use crate::error::SetupError;
use crate::factory::{Contender, Services, TrialContext};
use crate::gateway::WayToModels;
use crate::program::Started;
use crate::registry::Kind;
use crate::words;

pub(crate) const KIND: Kind = Kind {
    name: "cmd-host:",
    argument: "PROGRAM ARGS",
    about: "the same without a sandbox: it can do whatever you can",
    check: |argument| words::command(argument).map(drop),
    open: |argument, services| Ok(Box::new(Unconfined::open(argument, services)?)),
};

#[derive(Debug)]
struct Unconfined {
    argv: Vec<String>,
    bundle: Option<Bundle>,
    models: Vec<Model>,
}

impl Unconfined {
    fn open(argument: &str, services: &Services) -> Result<Self, SetupError> {
        let spec = format!("cmd-host:{argument}");
        let mut argv = words::command(argument).map_err(|why| SetupError::Spec {
            spec: spec.clone(),
            why,
        })?;
        if find(OsStr::new(&argv[0])).is_none() {
            let why = format!(
                "there is no program `{}`, neither here nor in PATH",
                argv[0]
            );
            return Err(SetupError::Spec { spec, why });
        }
        let bundle = Bundle::of_command(&argv).ok().flatten();
        // The kernel then kills the program when the thread that started it is gone. Only the
        // program itself can ask for that, so another one asks first and becomes it.
        if let Some(setpriv) = find(OsStr::new("setpriv")) {
            let wrap = ["--pdeathsig", "KILL", "--"].map(str::to_owned);
            argv.splice(
                ..0,
                [vec![setpriv.display().to_string()], wrap.to_vec()].concat(),
            );
        }
        Ok(Self {
            argv,
            bundle,
            models: services.models.clone(),
        })
    }
}

fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Over the files named on the command line: there is no copy of the rest that would hold still.
impl Contender for Unconfined {
    fn digest(&self) -> Option<Digest> {
        self.bundle.as_ref().map(Bundle::digest)
    }

    fn bundle(&self) -> Option<&Bundle> {
        self.bundle.as_ref()
    }

    fn unconfined(&self) -> bool {
        true
    }

    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Guest {
            models: WayToModels::new(&self.models, &context.account),
            argv: self.argv.clone(),
            program: Started::default(),
        }))
    }
}

#[derive(Debug)]
struct Guest {
    models: WayToModels,
    argv: Vec<String>,
    program: Started,
}

#[async_trait]
impl Agent for Guest {
    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError> {
        let env = self.models.open_outside()?;
        let piped = spawn(&self.argv, &env).map_err(|error| {
            AgentError::Unreachable(format!("it could not be started: {error}"))
        })?;
        self.program.take_over(piped, brief)
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        self.program.act(observation).await
    }

    async fn end(&mut self) {
        self.models.close().await;
        self.program.end().await;
    }

    fn complaints(&self) -> Option<String> {
        self.program.complaints()
    }
}

/// `env`: what tells it of its gateway; empty if there is none.
fn spawn(argv: &[String], env: &BTreeMap<String, String>) -> io::Result<Piped> {
    let missing = || io::Error::other("a pipe is missing");
    let (program, arguments) = argv.split_first().ok_or_else(missing)?;
    let mut command = Command::new(program);
    // Whoever is given a way to its models is to take that: the keys stay with us.
    if !env.is_empty() {
        for key in key_variables() {
            command.env_remove(key);
        }
    }
    let mut child = command
        .args(arguments)
        .env("PYTHONUNBUFFERED", "1")
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let pid = pid.ok_or_else(missing)?;
    #[expect(
        deprecated,
        reason = "sound for a descriptor that it owns; what replaces it is unsafe to call"
    )]
    let ended = AsyncFd::new(pidfd_open(pid, PidfdFlags::empty())?)?;
    let (tell, exit) = oneshot::channel();
    tokio::spawn(watch(child, pid, ended, tell));
    Ok(Piped {
        stdin: Box::new(stdin),
        stdout: Box::new(stdout),
        stderr: Box::new(stderr),
        exit,
    })
}

/// Ends the whole group once its leader has ended or nobody wants it any more. The leader is
/// reaped last: until then its number can't become somebody else's.
async fn watch(
    mut child: Child,
    pid: Pid,
    ended: AsyncFd<OwnedFd>,
    mut tell: oneshot::Sender<Exit>,
) {
    tokio::select! {
        _ = ended.readable() => {}
        () = tell.closed() => {}
    }
    // Gone already is fine.
    let _ = kill_process_group(pid, Signal::KILL);
    if let Ok(status) = child.wait().await {
        let _ = tell.send(exit_of(status));
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
