//! One local sandbox: the contract, spoken over the link to its init.

use std::io::{self, Read, Seek};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::CutOff;
use agon_core::files::FileTree;
use async_trait::async_trait;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::body::{Body, Witness};
use super::link::{Answer, Call, Link, SENDING};
use super::pack::pack;
use super::run::{Program, Stream, memory_file, pipe, read_once, sealed, take_all};
use super::scratch::Scratch;
use super::terminal;
use crate::activity::Activity;
use crate::archive::WorkArchive;
use crate::contract::{
    Exec, ExecOutput, Exit, Frozen, Moment, Piped, Request, Sandbox, Terminal, WORK,
};
use crate::error::{ENDING, SandboxError};
use crate::init::wire::{Ask, Say, Start};

/// For what the init does by itself; programs have deadlines of their own.
const DEADLINE: Duration = Duration::from_secs(50);

/// For the end of a killed program or sandbox.
const LAST: Duration = Duration::from_secs(10);

/// The most that a verdict may say.
const LONGEST_VERDICT: u64 = 64 << 10;

/// Packed, a folder takes more than it holds: a header for each of as many entries as there may be.
const ARCHIVE_SLACK: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct LocalSandbox {
    link: Arc<Link>,
    body: Body,
    witness: Witness,
    scratch: Arc<Scratch>,
    /// Nothing is packed of a working folder that stays.
    archive_budget: Option<u64>,
}

impl LocalSandbox {
    pub(super) fn new(
        link: Arc<Link>,
        body: Body,
        witness: Witness,
        scratch: Arc<Scratch>,
        request: &Request,
    ) -> Self {
        let environment = &request.environment;
        let budget = environment.disk.0.saturating_add(ARCHIVE_SLACK);
        tokio::spawn(Arc::clone(&link).listen());
        Self {
            link,
            body,
            witness,
            scratch,
            archive_budget: request.work.is_none().then_some(budget),
        }
    }

    /// Sends what has no answer.
    pub(super) async fn tell(&self, ask: Ask) -> Result<(), SandboxError> {
        self.call(ask, Vec::new()).await.map(drop)
    }

    /// Our copies of the descriptors are closed once they are on their way.
    async fn call(&self, ask: Ask, descriptors: Vec<OwnedFd>) -> Result<Call, SandboxError> {
        let call = self.link.call(ask, &descriptors).await;
        call.map_err(|error| match error.kind() {
            io::ErrorKind::ArgumentListTooLong => SandboxError::Denied(error.to_string()),
            io::ErrorKind::TimedOut => SandboxError::Timeout {
                what: "reaching the sandbox's init",
                seconds: SENDING.as_secs_f64(),
            },
            _ => self.witness.loss(),
        })
    }

    async fn judge(
        &self,
        answer: impl Future<Output = Option<Answer>>,
        what: &'static str,
    ) -> Result<Answer, SandboxError> {
        let late = |_| SandboxError::Timeout {
            what,
            seconds: DEADLINE.as_secs_f64(),
        };
        let answer = timeout(DEADLINE, answer).await.map_err(late)?;
        if answer.is_some() {
            self.witness.saw_it_alive();
        }
        match answer {
            Some(Answer {
                say: Say::Failed(why),
                ..
            }) => Err(SandboxError::Denied(why)),
            Some(answer) => Ok(answer),
            None => Err(self.witness.loss()),
        }
    }

    async fn ask(
        &self,
        ask: Ask,
        descriptors: Vec<OwnedFd>,
        what: &'static str,
    ) -> Result<Answer, SandboxError> {
        let mut call = self.call(ask, descriptors).await?;
        self.judge(call.answer(), what).await
    }

    /// What a file holds, or that there is none of this name.
    async fn look_up(
        &self,
        path: &str,
        limit: u64,
    ) -> Result<Result<Vec<u8>, String>, SandboxError> {
        let mut file = memory_file().map_err(no_descriptors)?;
        let theirs = file.try_clone().map_err(no_descriptors)?.into();
        let path = path.to_owned();
        let ask = Ask::Read { path, limit };
        let answer = self.ask(ask, vec![theirs], "reading a file").await?;
        if let Say::NoFile(why) = answer.say {
            return Ok(Err(why));
        }
        let mut content = Vec::new();
        file.rewind().map_err(no_descriptors)?;
        file.take(limit)
            .read_to_end(&mut content)
            .map_err(no_descriptors)?;
        Ok(Ok(content))
    }

    async fn start(&self, exec: &Exec, streams: Vec<OwnedFd>) -> Result<Program, SandboxError> {
        let (program, _) = self.start_by(Ask::Spawn(start(exec)), streams).await?;
        Ok(program)
    }

    /// With what is said of its start.
    async fn start_by(
        &self,
        ask: Ask,
        streams: Vec<OwnedFd>,
    ) -> Result<(Program, Say), SandboxError> {
        let mut program = Program::new(self.call(ask, streams).await?);
        let answer = self.judge(program.started(), "starting a program").await?;
        Ok((program, answer.say))
    }

    /// Starts a program with pipes.
    async fn pipe(&self, ask: Ask) -> Result<(Piped, Say), SandboxError> {
        let (their_stdin, stdin) = pipe().map_err(no_descriptors)?;
        let (stdout, their_stdout) = pipe().map_err(no_descriptors)?;
        let (stderr, their_stderr) = pipe().map_err(no_descriptors)?;
        let streams = vec![their_stdin, their_stdout, their_stderr];
        let (mut program, said) = self.start_by(ask, streams).await?;
        let (mut ended, exit) = oneshot::channel();
        tokio::spawn(async move {
            tokio::select! {
                end = program.end() => if let Some(end) = end {
                    let _ = ended.send(end);
                },
                () = ended.closed() => {}
            }
        });
        let piped = Piped {
            stdin: Box::new(Sender::from_owned_fd(stdin).map_err(no_descriptors)?),
            stdout: Box::new(Receiver::from_owned_fd(stdout).map_err(no_descriptors)?),
            stderr: Box::new(Receiver::from_owned_fd(stderr).map_err(no_descriptors)?),
            exit,
        };
        Ok((piped, said))
    }
}

fn start(exec: &Exec) -> Start {
    Start {
        argv: exec.argv.clone(),
        cwd: exec.cwd.clone(),
        env: exec.env.clone(),
    }
}

fn no_descriptors(error: io::Error) -> SandboxError {
    SandboxError::Io {
        context: "cannot open a channel to the sandbox".to_owned(),
        source: error,
    }
}

#[async_trait]
impl Sandbox for LocalSandbox {
    /// Streams are awaited for a short grace after the program's end; see [`Stream`].
    async fn exec(&self, exec: &Exec) -> Result<ExecOutput, SandboxError> {
        let (stdout, their_stdout) = Stream::open(exec.keep).map_err(no_descriptors)?;
        let (stderr, their_stderr) = Stream::open(exec.keep).map_err(no_descriptors)?;
        let (verdict, their_verdict) = Stream::one_way(LONGEST_VERDICT).map_err(no_descriptors)?;
        let stdin = if exec.verdict_channel {
            read_once(&exec.stdin)
        } else {
            sealed(&exec.stdin)
        };
        let stdin = stdin.map_err(no_descriptors)?;
        let mut streams = vec![stdin, their_stdout, their_stderr];
        if exec.verdict_channel {
            streams.push(their_verdict);
        } else {
            drop(their_verdict);
        }
        let mut program = self.start(exec, streams).await?;
        let exit = match timeout(exec.timeout, program.end()).await {
            Ok(ended) => ended.ok_or_else(|| self.witness.loss())?,
            Err(_) => {
                program.kill();
                match timeout(LAST, program.end()).await {
                    Ok(Some(_)) => Exit::TimedOut,
                    Ok(None) => return Err(self.witness.loss()),
                    Err(_) => {
                        return Err(SandboxError::Timeout {
                            what: ENDING,
                            seconds: LAST.as_secs_f64(),
                        });
                    }
                }
            }
        };
        self.witness.saw_it_alive();
        let [stdout, stderr, verdict] = take_all([stdout, stderr, verdict]).await;
        Ok(ExecOutput {
            exit,
            stdout,
            stderr,
            // Cut if need be: what floods the channel is seen, and is no verdict.
            verdict: verdict.bytes,
        })
    }

    async fn spawn(&self, exec: &Exec) -> Result<Piped, SandboxError> {
        let (piped, _) = self.pipe(Ask::Spawn(start(exec))).await?;
        Ok(piped)
    }

    async fn spawn_apart(&self, exec: &Exec) -> Result<(Piped, bool), SandboxError> {
        let (piped, said) = self.pipe(Ask::SpawnApart(start(exec))).await?;
        Ok((piped, said == Say::StartedApart))
    }

    async fn terminal(&self, exec: &Exec) -> Result<Terminal, SandboxError> {
        let call = self.call(Ask::Terminal(start(exec)), Vec::new()).await?;
        let mut program = Program::new(call);
        let answer = self.judge(program.started(), "opening a terminal").await?;
        let missing = || SandboxError::Gone("the init sent no terminal".to_owned());
        let fd = answer.descriptor.ok_or_else(missing)?;
        terminal::open(fd, program).map_err(no_descriptors)
    }

    async fn kill_command(&self, shell: u32, since: Moment) -> Result<bool, SandboxError> {
        let ask = Ask::KillCommand { shell, since };
        let answer = self.ask(ask, Vec::new(), "ending a command").await?;
        Ok(answer.say == Say::Killed(true))
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, SandboxError> {
        let content = self.look_up(path, limit).await?;
        content.map_err(SandboxError::Denied)
    }

    async fn find(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        Ok(self.look_up(path, limit).await?.ok())
    }

    async fn write(&self, path: &str, content: &[u8]) -> Result<(), SandboxError> {
        let content = sealed(content).map_err(no_descriptors)?;
        let path = path.to_owned();
        let written = self.ask(Ask::Write { path }, vec![content], "writing a file");
        written.await.map(drop)
    }

    async fn copy_in(&self, tree: &FileTree, into: &str) -> Result<(), SandboxError> {
        let tree = tree.clone();
        let packed = tokio::task::spawn_blocking(move || pack(&tree)).await;
        let packed = packed
            .map_err(io::Error::other)
            .and_then(|packed| packed)
            .map_err(SandboxError::io("cannot pack the task's files"))?;
        let into = into.to_owned();
        let copied = self.ask(Ask::Unpack { into }, vec![packed], "copying files in");
        copied.await.map(drop)
    }

    async fn unpack(&self, archive: &WorkArchive) -> Result<(), SandboxError> {
        let file = archive
            .open()
            .map_err(SandboxError::io("cannot open the frozen working folder"))?;
        let into = WORK.to_owned();
        let unpacked = self.ask(Ask::Unpack { into }, vec![file.into()], "unpacking");
        unpacked.await.map(drop)
    }

    async fn listen(&self, port: u16) -> Result<TcpListener, SandboxError> {
        let ask = Ask::Listen { port };
        let answer = self.ask(ask, Vec::new(), "opening a port").await?;
        let missing = || SandboxError::Gone("the init sent no socket".to_owned());
        Ok(answer.descriptor.ok_or_else(missing)?.into())
    }

    async fn activity(&self) -> Option<Activity> {
        self.body.init().map(Activity::of_descendants)
    }

    async fn pause(&self) -> Result<(), SandboxError> {
        let paused = self.ask(Ask::Pause, Vec::new(), "pausing the sandbox");
        paused.await.map(drop)
    }

    async fn resume(&self) -> Result<(), SandboxError> {
        let resumed = self.ask(Ask::Resume, Vec::new(), "resuming the sandbox");
        resumed.await.map(drop)
    }

    async fn freeze(&mut self) -> Result<Frozen, SandboxError> {
        let keep = |error| SandboxError::io("cannot keep the frozen working folder")(error);
        let (archive, theirs) = pipe().map_err(no_descriptors)?;
        let (mut file, path) = self.scratch.archive().map_err(keep)?;
        let budget = self.archive_budget;
        let call = self.call(Ask::Freeze { budget }, vec![theirs]);
        let mut call = call.await?;
        let begun = Instant::now();
        let copy = tokio::task::spawn_blocking(move || {
            let limit = budget.unwrap_or(0).saturating_add(ARCHIVE_SLACK);
            io::copy(&mut std::fs::File::from(archive).take(limit), &mut file)
        });
        // One that does not end is the doing of those who are to be ended, whatever they did.
        let answer = match self.judge(call.answer(), ENDING).await {
            Err(SandboxError::Denied(why)) => Err(SandboxError::Gone(why)),
            Ok(answer) if answer.say == Say::Stuck => Err(SandboxError::Timeout {
                what: ENDING,
                seconds: begun.elapsed().as_secs_f64(),
            }),
            other => other,
        };
        let left_out = match answer.map(|answer| answer.say) {
            Ok(Say::Packed { left_out }) => left_out,
            other => {
                // Also ends the copy, which else would wait for the init.
                self.body.end();
                let confused = || SandboxError::Gone("the init has not packed".to_owned());
                return Err(other.err().unwrap_or_else(confused));
            }
        };
        copy.await
            .map_err(io::Error::other)
            .and_then(|copied| copied)
            .map_err(keep)?;
        Ok(Frozen {
            cut_off: CutOff::after_freeze(),
            work: WorkArchive::with_left_out(path, left_out).map_err(keep)?,
            changes: None,
        })
    }

    async fn destroy(mut self: Box<Self>) {
        // What is stuck in the kernel keeps its place; there is nothing else to be done for it.
        let _ = timeout(LAST, self.body.end()).await;
    }
}
