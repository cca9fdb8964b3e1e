//! A persistent shell on a terminal, in any sandbox: working folder and environment survive between
//! commands, a command that goes silent can be waited for, typed to or interrupted, and one that
//! runs too long is killed with its whole tree. Memory is bounded whatever the command prints.
//! The terminal is read only while somebody waits for it, so a flood stalls instead of piling up.
//!
//! The shell belongs to the agent, which can forge every mark of this protocol: it then deceives
//! nobody but itself about its own prompt.

mod marker;
mod shell;
mod typing;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::marker::{Mark, Piece};
use self::shell::Shell;
use crate::capture::Capture;
use crate::contract::{Captured, Exec, Moment, Sandbox, WORK};
use crate::error::SandboxError;

/// How long a killed command may take to give the prompt back, in all.
const GRACE: Duration = Duration::from_secs(2);

/// The byte of C-c.
const INTERRUPT: u8 = 3;

/// How much typed text may wait for a command to read it.
const MOST_TYPED: usize = 1 << 20;

/// Takes all output of a session, as it comes.
pub trait OutputSink: Send + Sync {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl<F: FnMut(&[u8]) -> io::Result<()> + Send + Sync> OutputSink for F {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self(bytes)
    }
}

pub struct SessionOptions {
    pub cwd: String,
    pub env: BTreeMap<String, String>,
    /// Deadline for the shell's first prompt.
    pub start: Duration,
    /// Bytes of one result that the agent sees: the first half and the last half of it.
    pub view: u64,
    /// Bytes that the sink gets over the whole session; what comes later is dropped and counted.
    pub output: u64,
    pub sink: Box<dyn OutputSink>,
}

impl SessionOptions {
    pub fn new(sink: Box<dyn OutputSink>) -> Self {
        Self {
            cwd: WORK.to_owned(),
            env: BTreeMap::new(),
            start: Duration::from_secs(30),
            view: 16 << 10,
            output: 64 << 20,
            sink,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From the start of the command; then its whole tree is killed.
    pub hard: Duration,
    /// Without any output; then the command is left running.
    pub quiet: Duration,
    /// From now on, with output or without; then the command is left running.
    pub patience: Option<Duration>,
    /// In place of both: from now on, with output or without; then the command is left running.
    pub wait: Option<Duration>,
}

/// What came of a command since the last result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// Head and tail of the output.
    pub output: Captured,
    /// All bytes of it.
    pub total: u64,
    /// Exit status, where the command has ended by itself and it is known.
    pub exit: Option<i32>,
    /// Still running: wait, send input or a control key.
    pub running: bool,
    /// Why it was left running, if it was.
    pub left: Option<Left>,
    /// Killed because its time was over.
    pub timed_out: bool,
    /// The shell itself ended or had to be ended and a new one was started: working folder and
    /// environment are as at the beginning.
    pub restarted: bool,
    /// The shell's working folder, as of the last prompt.
    pub cwd: String,
}

/// What made a command that still runs be left to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It printed nothing for as long as [`Timeouts::quiet`].
    Silent,
    /// [`Timeouts::patience`] or [`Timeouts::wait`] was over.
    Late,
}

pub struct ShellSession {
    options: SessionOptions,
    shell: Shell,
    running: Option<Instant>,
    capture: Capture,
    cwd: String,
    kept: u64,
    dropped: u64,
}

/// How a command, or the shell, ended.
#[derive(Debug)]
enum End {
    Prompt {
        status: i32,
        since: Moment,
        cwd: String,
    },
    Shell(Option<i32>),
}

/// Against a command whose time is over.
enum Means {
    Kill,
    Interrupt,
}

enum Step {
    Output,
    Ended(End),
    Deadline,
}

impl ShellSession {
    pub async fn open(
        sandbox: &dyn Sandbox,
        options: SessionOptions,
    ) -> Result<Self, SandboxError> {
        let (shell, cwd) = Shell::start(sandbox, &options).await?;
        Ok(Self {
            capture: Capture::new(options.view),
            options,
            shell,
            running: None,
            cwd,
            kept: 0,
            dropped: 0,
        })
    }

    /// Whether a command was left running.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// For how long the command has been running that was left running.
    pub fn running_for(&self) -> Option<Duration> {
        self.running.map(|since| since.elapsed())
    }

    /// Bytes of output that the sink did not get because the session's limit was reached.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Runs a command to its end or to one of its time-outs.
    pub async fn run(
        &mut self,
        sandbox: &dyn Sandbox,
        command: &str,
        timeouts: Timeouts,
    ) -> Result<CommandResult, SandboxError> {
        if self.is_running() {
            return Err(SandboxError::Denied(
                "not run, because the last command is still running: wait for it with an empty \
                 command, send it a line with `input: true`, or interrupt it with C-c and \
                 `input: true`"
                    .to_owned(),
            ));
        }
        let line = typing::command_line(self.shell.line + 1, command)?;
        if std::mem::take(&mut self.shell.typed) {
            // What the last command left unread must not become the beginning of this one.
            self.shell.typing = VecDeque::from([b'\n']);
        }
        self.shell.typing.extend(line.as_bytes());
        self.shell.line += 1;
        self.running = Some(Instant::now());
        self.wait(sandbox, timeouts).await
    }

    /// Types a line of text for the running command.
    pub async fn send_input(
        &mut self,
        sandbox: &dyn Sandbox,
        text: &str,
        timeouts: Timeouts,
    ) -> Result<CommandResult, SandboxError> {
        self.started()?;
        if self.shell.typing.len() + text.len() > MOST_TYPED {
            return Err(SandboxError::Denied(
                "the command does not take its input: what was sent before is still unread"
                    .to_owned(),
            ));
        }
        self.shell.typed = true;
        self.shell.typing.extend(text.as_bytes());
        self.shell.typing.push_back(b'\n');
        self.wait(sandbox, timeouts).await
    }

    /// Presses a control key, written `C-c`, for the running command.
    pub async fn send_key(
        &mut self,
        sandbox: &dyn Sandbox,
        key: &str,
        timeouts: Timeouts,
    ) -> Result<CommandResult, SandboxError> {
        let key = typing::control_key(key)?;
        self.started()?;
        self.shell.typed = true;
        self.shell.typing.push_back(key);
        self.wait(sandbox, timeouts).await
    }

    fn started(&self) -> Result<Instant, SandboxError> {
        self.running.ok_or_else(|| {
            SandboxError::Denied(
                "no command is running that could be waited for or typed to: start one first"
                    .to_owned(),
            )
        })
    }

    /// Waits on for the running command, typing what is left to be typed meanwhile.
    pub async fn wait(
        &mut self,
        sandbox: &dyn Sandbox,
        timeouts: Timeouts,
    ) -> Result<CommandResult, SandboxError> {
        let started = self.started()?;
        let hard = started + timeouts.hard;
        let from_now = |time: Option<Duration>| time.map(|time| Instant::now() + time);
        let (wait, patience) = (from_now(timeouts.wait), from_now(timeouts.patience));
        loop {
            let quiet = Instant::now() + timeouts.quiet;
            let (soft, left) = match wait.or(patience.filter(|most| *most <= quiet)) {
                Some(late) => (late, Left::Late),
                None => (quiet, Left::Silent),
            };
            match self.step(hard.min(soft)).await? {
                Step::Output => {}
                Step::Ended(end) => return self.ended(sandbox, end, false).await,
                Step::Deadline if Instant::now() >= hard => return self.kill(sandbox).await,
                Step::Deadline => {
                    let mut result = self.result(None);
                    result.left = Some(left);
                    return Ok(result);
                }
            }
        }
    }

    /// The next thing that happens on the terminal. The deadline counts even while there is always
    /// more output.
    async fn step(&mut self, deadline: Instant) -> Result<Step, SandboxError> {
        if Instant::now() >= deadline {
            return Ok(Step::Deadline);
        }
        let Ok(end) = timeout_at(deadline, self.shell.turn()).await else {
            return Ok(Step::Deadline);
        };
        let Some(count) = end else {
            return Ok(Step::Ended(End::Shell(None)));
        };
        let Self {
            shell,
            options,
            capture,
            kept,
            dropped,
            ..
        } = self;
        let mut ended = None;
        let mut sunk = Ok(());
        let line = shell.line;
        shell.scan(count, |piece| match piece {
            Piece::Output(bytes) => {
                capture.push(bytes);
                let room = options.output.saturating_sub(*kept);
                let keep = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
                *kept += keep as u64;
                *dropped += (bytes.len() - keep) as u64;
                if keep > 0 && sunk.is_ok() {
                    sunk = options.sink.write(&bytes[..keep]);
                }
            }
            Piece::Mark(Mark::Prompt {
                line: of,
                status,
                since,
                cwd,
            }) if of == line => {
                ended.get_or_insert(End::Prompt { status, since, cwd });
            }
            Piece::Mark(Mark::Exit(status)) => {
                ended.get_or_insert(End::Shell(Some(status)));
            }
            Piece::Mark(_) => {}
        });
        sunk.map_err(SandboxError::io("could not keep the output of the shell"))?;
        Ok(ended.map_or(Step::Output, Step::Ended))
    }

    /// Time is over: first all that the command line has started is killed and the shell told to
    /// drop the rest, then it is interrupted, at last the shell is given up.
    async fn kill(&mut self, sandbox: &dyn Sandbox) -> Result<CommandResult, SandboxError> {
        use Means::{Interrupt, Kill};
        let means = [Kill, Interrupt, Interrupt, Kill, Interrupt];
        for attempt in &means {
            self.shell.typing.clear();
            match attempt {
                Kill => {
                    sandbox
                        .kill_command(self.shell.pid, self.shell.since)
                        .await?;
                }
                // Not right after a kill: it would go to the dead, whom the shell has not buried.
                Interrupt => {
                    self.shell.typed = true;
                    self.shell.typing.push_back(INTERRUPT);
                }
            }
            let deadline = Instant::now() + GRACE / means.len() as u32;
            loop {
                match self.step(deadline).await? {
                    Step::Output => {}
                    Step::Ended(end) => return self.ended(sandbox, end, true).await,
                    Step::Deadline => break,
                }
            }
        }
        // Best effort: whatever survives this ends with the sandbox.
        let kill = Exec::shell(&format!("kill -9 {}", self.shell.pid), GRACE);
        let _ = sandbox.exec(&kill).await;
        self.ended(sandbox, End::Shell(None), true).await
    }

    async fn ended(
        &mut self,
        sandbox: &dyn Sandbox,
        end: End,
        timed_out: bool,
    ) -> Result<CommandResult, SandboxError> {
        let (exit, restarted) = match end {
            End::Prompt { status, since, cwd } => {
                self.shell.since = since;
                self.cwd = cwd;
                (Some(status), false)
            }
            End::Shell(status) => {
                self.running = None;
                (self.shell, self.cwd) = match Shell::start(sandbox, &self.options).await {
                    // It was there before: the agent's own doing.
                    Err(SandboxError::Missing(reason)) => Err(SandboxError::Denied(reason)),
                    other => other,
                }?;
                (status, true)
            }
        };
        self.running = None;
        // What a killed command leaves behind is no status of its own.
        let mut result = self.result(exit.filter(|_| !timed_out));
        result.timed_out = timed_out;
        result.restarted = restarted;
        Ok(result)
    }

    fn result(&mut self, exit: Option<i32>) -> CommandResult {
        let capture = std::mem::replace(&mut self.capture, Capture::new(self.options.view));
        CommandResult {
            total: capture.total(),
            output: capture.finish(),
            exit,
            running: self.is_running(),
            left: None,
            timed_out: false,
            restarted: false,
            cwd: self.cwd.clone(),
        }
    }
}

impl fmt::Debug for ShellSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellSession")
            .field("pid", &self.shell.pid)
            .field("running", &self.is_running())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
