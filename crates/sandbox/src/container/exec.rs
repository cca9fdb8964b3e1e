//! Running programs in a container: to their end, with pipes, or on a terminal.
//!
//! The engine says which pid a program has only in its own namespace, so the program's shell wrapper
//! says it first, as a line on standard error. A mark in the environment finds what leaves the tree.

use std::io;
use std::time::Duration;

use bollard::models::ExecConfig;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::attach::{Attached, Frames, Stream};
use super::engine::{CALL_SECONDS, failed, refused};
use super::processes;
use super::sandbox::Container;
use super::spec::assignments;
use crate::capture::Capture;
use crate::contract::{Exec, ExecOutput, Exit, Piped, Reader, Terminal, Writer};
use crate::error::SandboxError;

/// The status of a program that was killed.
const KILLED: i32 = 128 + 9;

/// For killing a tree.
const KILL: Duration = Duration::from_secs(20);
const PIPE: usize = 64 << 10;
/// Longest line that can be a pid.
const LONGEST_PID: usize = 16;

/// A program on its way.
struct Started {
    id: String,
    mark: String,
    streams: Attached,
}

/// How to find a program that has to be killed.
struct Victim {
    pid: Option<u32>,
    mark: String,
}

impl Container {
    pub(super) async fn run(&self, exec: &Exec) -> Result<ExecOutput, SandboxError> {
        let (output, victim) = self.run_until(exec, Instant::now() + exec.timeout).await?;
        if let Some(victim) = victim {
            self.kill_tree(&victim).await?;
        }
        // All programs of a container that is ended from outside end like this one.
        if output.exit == Exit::Code(KILLED) {
            self.remains().await?;
        }
        Ok(output)
    }

    /// Runs to the deadline; what has not ended then is still to be killed.
    async fn run_until(
        &self,
        exec: &Exec,
        deadline: Instant,
    ) -> Result<(ExecOutput, Option<Victim>), SandboxError> {
        let script = if exec.verdict_channel {
            processes::WITH_VERDICT
        } else {
            processes::PIPED
        };
        let stdin = !exec.stdin.is_empty();
        let Started { id, mark, streams } = self.start(exec, script, stdin, false).await?;
        let mut collected = Collected::new(exec);
        let run = async {
            let ((), read) = tokio::join!(
                feed(streams.writer, &exec.stdin),
                collected.read_all(Frames::new(streams.reader))
            );
            // A connection that breaks ends like one that is closed: the engine knows the rest.
            let _ = read;
            self.exit_of(&id).await
        };
        match timeout_at(deadline, run).await {
            Ok(exit) => Ok((collected.finish(exit?), None)),
            Err(_) => {
                let pid = collected.pid.get();
                Ok((collected.finish(Exit::TimedOut), Some(Victim { pid, mark })))
            }
        }
    }

    /// The caller has to read both streams: they come over one connection, and the one that nobody
    /// reads holds up the other. The program is killed when the receiver of its exit is dropped.
    pub(super) async fn spawn(&self, exec: &Exec) -> Result<Piped, SandboxError> {
        let Started { id, mark, streams } = self.start(exec, processes::PIPED, true, false).await?;
        let (stdout, stdout_pipe) = tokio::io::duplex(PIPE);
        let (stderr, stderr_pipe) = tokio::io::duplex(PIPE);
        let (mut sender, exit) = oneshot::channel();
        let container = self.clone();
        tokio::spawn(async move {
            let mut pid = PidLine::default();
            let run = async {
                forward(
                    Frames::new(streams.reader),
                    &mut pid,
                    stdout_pipe,
                    stderr_pipe,
                )
                .await;
                container.exit_of(&id).await
            };
            let ended = tokio::select! {
                ended = run => ended.ok(),
                () = sender.closed() => None,
            };
            // Nobody is left to tell about a failure here; the tree ends at the latest with its
            // container.
            if let Some(exit) = ended {
                let _ = sender.send(exit);
            } else {
                let pid = pid.get();
                let _ = container.kill_tree(&Victim { pid, mark }).await;
            }
        });
        Ok(Piped {
            stdin: streams.writer,
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            exit,
        })
    }

    pub(super) async fn terminal(&self, exec: &Exec) -> Result<Terminal, SandboxError> {
        let started = self.start(exec, processes::ON_TERMINAL, true, true).await?;
        let Attached { reader, writer } = started.streams;
        Ok(Terminal { reader, writer })
    }

    async fn start(
        &self,
        exec: &Exec,
        script: &str,
        stdin: bool,
        tty: bool,
    ) -> Result<Started, SandboxError> {
        let mark = format!("AGON_EXEC={:032x}", rand::random::<u128>());
        let mut env = assignments(&exec.env);
        env.push(mark.clone());
        let cwd = self.folder.place(&exec.cwd);
        let wrapper = ["sh", "-c", script, "sh", &cwd].map(str::to_owned);
        let config = ExecConfig {
            attach_stdin: Some(stdin),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            tty: Some(tty),
            // The container's own may be gone; the wrapper changes to the right one.
            working_dir: Some("/".to_owned()),
            env: Some(env),
            cmd: Some(wrapper.into_iter().chain(exec.argv.clone()).collect()),
            ..ExecConfig::default()
        };
        let id = match self.engine.docker.create_exec(&self.name, config).await {
            Ok(created) => created.id,
            Err(error) => {
                return Err(match refused(&error) {
                    Some((404 | 409, reason)) => self.obituary(reason.to_owned()).await,
                    _ => failed("could not prepare a program in the container")(error),
                });
            }
        };
        let attach = self.engine.attach(&id, tty);
        let attached = tokio::select! {
            attached = timeout(Duration::from_secs(CALL_SECONDS), attach) => attached,
            // An engine may never answer about a container that ends meanwhile.
            ended = self.end() => return Err(ended),
        };
        match attached {
            Ok(Ok(streams)) => Ok(Started { id, mark, streams }),
            Ok(Err(error)) => Err(self.obituary(error.to_string()).await),
            Err(_) => Err(SandboxError::Timeout {
                what: "starting a program in the container",
                seconds: CALL_SECONDS as f64,
            }),
        }
    }

    /// The exit of a program whose streams have ended. The streams can end before the program does,
    /// and the engine tells nobody on this connection when it does, so it is asked until it knows.
    async fn exit_of(&self, id: &str) -> Result<Exit, SandboxError> {
        let mut pause = Duration::from_millis(1);
        loop {
            let exec = match self.engine.docker.inspect_exec(id).await {
                Ok(exec) => exec,
                Err(error) => return Err(self.obituary(error.to_string()).await),
            };
            if let (Some(false), Some(code)) = (exec.running, exec.exit_code) {
                return Ok(Exit::Code(i32::try_from(code).unwrap_or(-1)));
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }

    async fn kill_tree(&self, victim: &Victim) -> Result<(), SandboxError> {
        // A program that did not come to say its pid has no tree, but is found by its mark.
        let pid = victim.pid.unwrap_or(0).to_string();
        self.kill(&["tree", &pid, &victim.mark]).await.map(drop)
    }

    /// Kills as `kill.sh` says and tells whether there was anything. Where that can't run, for lack
    /// of processes or because the agent broke the image's `sh`, everything in the container ends.
    pub(super) async fn kill(&self, arguments: &[&str]) -> Result<bool, SandboxError> {
        let command = ["sh", "-c", processes::KILL, "sh"];
        let mut killer = Exec::new(command.iter().chain(arguments).copied(), KILL);
        killer.cwd = "/".to_owned();
        match self.run_until(&killer, Instant::now() + KILL).await {
            Ok((killed, None)) if killed.exit.success() && !killed.stdout.bytes.is_empty() => {
                Ok(killed.stdout.bytes.trim_ascii() != b"0")
            }
            _ => self.signal(processes::END_ALL).await.map(|()| true),
        }
    }
}

/// Gives a program its input. One that does not want it all is free to close its end.
async fn feed(mut stdin: Writer, input: &[u8]) {
    if stdin.write_all(input).await.is_ok() {
        let _ = stdin.shutdown().await;
    }
}

/// Passes both streams on until they end or nobody reads them any more.
async fn forward(
    mut frames: Frames<Reader>,
    pid: &mut PidLine,
    mut stdout: DuplexStream,
    mut stderr: DuplexStream,
) {
    while let Ok(Some((stream, bytes))) = frames.next().await {
        let passed = match stream {
            Stream::Stdout => stdout.write_all(bytes).await,
            Stream::Stderr => {
                let mut rest = Vec::new();
                pid.strip(bytes, |bytes| rest.extend_from_slice(bytes));
                stderr.write_all(&rest).await
            }
        };
        if passed.is_err() {
            return;
        }
    }
}

/// What a program prints.
struct Collected {
    stdout: Capture,
    stderr: Capture,
    verdict: Option<Vec<u8>>,
    limit: usize,
    pid: PidLine,
}

impl Collected {
    fn new(exec: &Exec) -> Self {
        Self {
            stdout: Capture::new(exec.keep),
            stderr: Capture::new(exec.keep),
            verdict: exec.verdict_channel.then(Vec::new),
            limit: usize::try_from(exec.keep).unwrap_or(usize::MAX),
            pid: PidLine::default(),
        }
    }

    async fn read_all(&mut self, mut frames: Frames<Reader>) -> io::Result<()> {
        while let Some((stream, bytes)) = frames.next().await? {
            match (stream, &mut self.verdict) {
                (Stream::Stderr, _) => self.pid.strip(bytes, |bytes| self.stderr.push(bytes)),
                (Stream::Stdout, None) => self.stdout.push(bytes),
                (Stream::Stdout, Some(verdict)) => {
                    let room = self.limit.saturating_sub(verdict.len()).min(bytes.len());
                    verdict.extend_from_slice(&bytes[..room]);
                }
            }
        }
        Ok(())
    }

    fn finish(self, exit: Exit) -> ExecOutput {
        ExecOutput {
            exit,
            stdout: self.stdout.finish(),
            stderr: self.stderr.finish(),
            verdict: self.verdict.unwrap_or_default(),
        }
    }
}

/// The first line on standard error.
#[derive(Debug, Default)]
struct PidLine {
    line: Vec<u8>,
    pid: Option<u32>,
    over: bool,
}

impl PidLine {
    fn get(&self) -> Option<u32> {
        self.pid
    }

    /// Takes the line out of the stream. If it is not a pid, it is output like the rest.
    fn strip(&mut self, bytes: &[u8], mut rest: impl FnMut(&[u8])) {
        if self.over {
            return rest(bytes);
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let (line, after) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        self.line.extend_from_slice(line);
        self.over = end.is_some() || self.line.len() > LONGEST_PID;
        if !self.over {
            return;
        }
        self.pid = std::str::from_utf8(self.line.trim_ascii_end())
            .ok()
            .and_then(|line| line.parse().ok());
        if self.pid.is_none() {
            rest(&self.line);
        }
        rest(after);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strip<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Option<u32>, Vec<u8>) {
        let (mut pid, mut rest) = (PidLine::default(), Vec::new());
        for chunk in chunks {
            pid.strip(chunk, |bytes| rest.extend_from_slice(bytes));
        }
        (pid.get(), rest)
    }

    #[test]
    fn only_a_pid_is_taken_out() {
        assert_eq!(
            strip([&b"42\nerror\n"[..]]),
            (Some(42), b"error\n".to_vec())
        );
        assert_eq!(
            strip([&b"no sh\nhere\n"[..]]),
            (None, b"no sh\nhere\n".to_vec())
        );
        let long = b"no program of that name was found".as_slice();
        assert_eq!(strip([long]), (None, long.to_vec()));
    }

    proptest! {
        #[test]
        fn the_rest_is_untouched(pid in any::<u32>(), rest in prop::collection::vec(any::<u8>(), 0..60), size in 1_usize..9) {
            let stream = [format!("{pid}\n").as_bytes(), &rest].concat();
            prop_assert_eq!(strip(stream.chunks(size)), (Some(pid), rest));
        }
    }
}
