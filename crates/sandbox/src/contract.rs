//! The one contract of every sandbox: prepare, exec, session, read, write, copy in and out, freeze,
//! destroy. Whoever uses a sandbox knows only this file.

use std::collections::BTreeMap;
use std::fmt;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use agon_core::files::FileTree;
use agon_core::{CutOff, Environment, Visible};
use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::activity::Activity;
use crate::archive::WorkArchive;
use crate::changes::{Changes, Words};
use crate::error::SandboxError;

/// The working folder inside of every sandbox.
pub const WORK: &str = "/work";

/// The name of the machine that programs in every sandbox see.
pub const HOST: &str = "agon";

/// Another name that people and programs know a mounted working folder by.
pub const WORKSPACE: &str = "/workspace";

/// What a sandbox is made for.
#[derive(Debug, Clone)]
pub struct Request {
    pub environment: Environment,
    pub owner: Owner,
    /// Host folders shown read-only inside; they must be readable by everybody.
    pub read_only: Vec<ReadOnlyFolder>,
    /// The X display that its programs see.
    pub display: Option<DisplayMount>,
    /// A folder of the host that is the working folder itself, also seen as [`WORKSPACE`] where the
    /// place is free. Programs run as its owner, so that what they make there is the owner's. It
    /// stays when the sandbox goes, and a freeze takes nothing of it.
    pub work: Option<PathBuf>,
    /// Deadline for being ready.
    pub start: Duration,
}

/// Whose sandbox this is: becomes container labels and names of leftovers.
#[derive(Debug, Clone)]
pub struct Owner {
    pub run: String,
    pub trial: String,
}

#[derive(Debug, Clone)]
pub struct ReadOnlyFolder {
    pub host: PathBuf,
    pub inside: String,
}

/// Where X clients look for the sockets of displays.
pub const X_SOCKETS: &str = "/tmp/.X11-unix";

/// A folder of the host with the socket of an X server, seen inside as [`X_SOCKETS`]. In a local
/// sandbox the server runs outside: the folder is read-only. In a container the server runs inside
/// and makes the socket: root of the container may write into the folder, so nothing in it can be
/// trusted, and nobody but us may reach it.
#[derive(Debug, Clone)]
pub struct DisplayMount {
    pub folder: PathBuf,
    /// Shell code that starts the server, run once when a container starts and never again, beside
    /// its first process and with no input. It ends with everything else in a freeze. Local
    /// sandboxes ignore it.
    pub start: String,
}

#[async_trait]
pub trait Provider: fmt::Debug + Send + Sync {
    /// A fresh sandbox, ready for commands.
    async fn prepare(&self, request: &Request) -> Result<Box<dyn Sandbox>, SandboxError>;

    /// Waits until sandboxes that were dropped are really gone, as long as that may take.
    async fn settle(&self) {}

    /// What enforces limits and which engine runs, for the manifest and `doctor`.
    async fn describe(&self) -> Result<String, SandboxError>;
}

#[async_trait]
pub trait Sandbox: fmt::Debug + Send + Sync {
    /// Runs one program to its end or its deadline, after which its whole tree is dead.
    async fn exec(&self, exec: &Exec) -> Result<ExecOutput, SandboxError>;

    /// Starts a program with pipes, for agents that live in a sandbox.
    async fn spawn(&self, exec: &Exec) -> Result<Piped, SandboxError>;

    /// The same for a program of the task. Says whether the agent's programs are kept from looking into it,
    /// though they may end it. That takes a local sandbox with a display and a kernel that can.
    async fn spawn_apart(&self, exec: &Exec) -> Result<(Piped, bool), SandboxError> {
        Ok((self.spawn(exec).await?, false))
    }

    /// Starts a program on a terminal of its own (no echo, wide, not cooked for output).
    async fn terminal(&self, exec: &Exec) -> Result<Terminal, SandboxError>;

    /// Ends the command line of the shell with this pid (as seen inside): tells the shell by
    /// [`DROP_LINE`] to drop the rest of it, and kills what runs in the foreground of its terminal
    /// and every child that it has got `since`, or that came to the first process since, with all
    /// descendants; never the shell itself. The shell stands still meanwhile. Says whether anybody
    /// was killed.
    async fn kill_command(&self, shell: u32, since: Moment) -> Result<bool, SandboxError>;

    /// Reads a file, at most `limit` bytes; relative paths start at the working folder.
    async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, SandboxError>;

    /// The same, but nothing where there is no such file, which takes a sandbox that can tell: else
    /// that is denied like all that can't be read.
    async fn find(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        self.read(path, limit).await.map(Some)
    }

    /// Writes a file, making its folders.
    async fn write(&self, path: &str, content: &[u8]) -> Result<(), SandboxError>;

    /// Puts files into the folder `into` (usually [`WORK`]).
    async fn copy_in(&self, tree: &FileTree, into: &str) -> Result<(), SandboxError>;

    /// Puts the agent's own files into the working folder.
    async fn copy_visible(&self, tree: &Visible<FileTree>) -> Result<(), SandboxError> {
        if tree.show().is_empty() {
            Ok(())
        } else {
            self.copy_in(tree.show(), WORK).await
        }
    }

    /// Unpacks a frozen working folder into this one's.
    async fn unpack(&self, archive: &WorkArchive) -> Result<(), SandboxError>;

    /// Whether it is still there, whatever the agent did in it; the error says why not.
    async fn remains(&self) -> Result<(), SandboxError> {
        Ok(())
    }

    /// Which programs and libraries that it brought are not what they were, as far as whoever runs it can
    /// tell from outside. Denied where there is too much to look at.
    async fn replaced(&self) -> Result<Vec<String>, SandboxError> {
        Ok(Vec::new())
    }

    /// A port of its own loopback. The programs inside can call there, and nobody else; whoever holds
    /// this answers them, from outside. The port is open for as long as it is held.
    async fn listen(&self, _port: u16) -> Result<TcpListener, SandboxError> {
        Err(SandboxError::Denied(
            "it has no loopback of its own".to_owned(),
        ))
    }

    /// What its programs are doing, where the kernel tells it. Where the server of a display runs inside, it is one of
    /// them.
    async fn activity(&self) -> Option<Activity> {
        None
    }

    /// Makes every program in it stand still until [`Sandbox::resume`]; those that serve the display of
    /// a container go on. Their clocks go on, too. No program should be started meanwhile, and in a
    /// local sandbox none is; files can be read, and [`Sandbox::freeze`] works.
    async fn pause(&self) -> Result<(), SandboxError> {
        Err(SandboxError::Denied("it can't be held still".to_owned()))
    }

    /// Lets all that [`Sandbox::pause`] stopped go on.
    async fn resume(&self) -> Result<(), SandboxError> {
        Ok(())
    }

    /// Ends every process of the agent and takes the working folder. `exec` works afterwards where
    /// the kind of sandbox allows grading inside.
    async fn freeze(&mut self) -> Result<Frozen, SandboxError>;

    /// Cuts the agent off for good and takes what it left: the working folder, and where the sandbox is a
    /// container and `beside` is true, what was changed beside it. A container is killed with its first
    /// process; nothing runs in it afterwards.
    async fn kill(&mut self, _beside: bool) -> Result<Frozen, SandboxError> {
        self.freeze().await
    }

    /// Takes the working folder and ends nothing: for tasks whose checks ask what the agent has started.
    async fn snapshot(&mut self) -> Result<Frozen, SandboxError> {
        self.freeze().await
    }

    /// Lays what was changed in another container over this fresh one, whose image is the same: data, and
    /// new programs where `words` name one. What the image brought of programs stays as it is.
    async fn lay_over(&self, _changes: &Changes, _words: &Words) -> Result<(), SandboxError> {
        Err(SandboxError::Denied("it has no image".to_owned()))
    }

    /// Removes everything. Dropping a sandbox does the same, without waiting.
    async fn destroy(self: Box<Self>);
}

/// The signal that tells a shell to drop the rest of its command line; the init knows it by number.
pub const DROP_LINE: &str = "USR2";

/// A moment as the processes of a sandbox tell it: whoever starts later is greater. Outside of it
/// there is no clock to compare with: reaching into a sandbox takes an unknown time.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Moment {
    /// Hundredths of a second since the machine started.
    pub tick: u64,
    /// The newest process: pids rise, so they tell who came first within a tick.
    pub pid: u32,
}

#[derive(Debug)]
pub struct Frozen {
    pub cut_off: CutOff,
    pub work: WorkArchive,
    /// Beside the working folder: see [`Sandbox::kill`].
    pub changes: Option<Changes>,
}

#[derive(Debug, Clone)]
pub struct Exec {
    /// Program and arguments; the program is looked up in the sandbox's PATH.
    pub argv: Vec<String>,
    pub cwd: String,
    pub env: BTreeMap<String, String>,
    pub stdin: Vec<u8>,
    pub timeout: Duration,
    /// Bytes kept of each stream: the first half and the last half of it.
    pub keep: u64,
    /// Opens descriptor 3 for writing, private to this program; see [`ExecOutput::verdict`].
    pub verdict_channel: bool,
}

impl Exec {
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>, timeout: Duration) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: WORK.to_owned(),
            env: BTreeMap::new(),
            stdin: Vec::new(),
            timeout,
            keep: 1 << 20,
            verdict_channel: false,
        }
    }

    /// A command line for the sandbox's own `sh`.
    pub fn shell(command: &str, timeout: Duration) -> Self {
        Self::new(["sh", "-c", command], timeout)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl Exit {
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
        }
    }
}

/// Bytes of a stream: head and tail where it was longer than what is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    pub bytes: Vec<u8>,
    /// Bytes left out of the middle.
    pub omitted: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecOutput {
    pub exit: Exit,
    pub stdout: Captured,
    pub stderr: Captured,
    /// What came over descriptor 3, if it was opened.
    pub verdict: Vec<u8>,
}

pub type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// A running program with pipes. Dropping it kills it.
pub struct Piped {
    pub stdin: Writer,
    pub stdout: Reader,
    pub stderr: Reader,
    pub exit: tokio::sync::oneshot::Receiver<Exit>,
}

impl fmt::Debug for Piped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Piped")
    }
}

/// Both directions of a terminal.
pub struct Terminal {
    pub reader: Reader,
    pub writer: Writer,
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Terminal")
    }
}
