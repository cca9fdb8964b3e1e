//! `cmd:PROGRAM ARGS`: a runner that is a program. It gets one JSON object on its standard input and answers
//! with one on its standard output. It runs with all of the user's rights, and is killed with its whole
//! process group when it has answered or is no longer waited for.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agon_agent::{Bundle, SetupError, split_words};
use agon_core::Digest;
use async_trait::async_trait;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::contender::{message, read};
use super::contract::{Runner, RunnerConfig, RunnerError};
use super::http::MOST_OF_AN_ANSWER;
use crate::results::{TestCase, TestCaseRun};

/// The end of what it complains about is told.
const COMPLAINTS: usize = 2000;
/// Of a file that is named on the command line, when its digest is taken.
const MOST_OF_A_PROGRAM: u64 = 64 << 20;
/// For reading the rest of the pipes once the whole group was ended.
const DRAINING: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Program {
    argv: Vec<String>,
    digest: Option<Digest>,
    bundle: Option<Bundle>,
}

impl Program {
    pub(super) fn open(spec: &str, line: &str) -> Result<Self, SetupError> {
        let wrong = |why: String| SetupError::Spec {
            spec: spec.to_owned(),
            why,
        };
        let mut argv = split_words(line).map_err(wrong)?;
        let program = argv.first().filter(|program| !program.is_empty());
        let Some(program) = program else {
            let why = "name the program to run, as in `cmd:python3 runner.py`";
            return Err(wrong(why.to_owned()));
        };
        if find(OsStr::new(program)).is_none() {
            let why = format!("there is no program `{program}`, neither here nor in PATH");
            return Err(wrong(why));
        }
        let digest = named_files(&argv);
        let bundle = Bundle::of_command(&argv).ok().flatten();
        // The kernel then ends the program when the thread that started it is gone. Only the program
        // itself can ask for that, so another one asks first and becomes it.
        if let Some(setpriv) = find(OsStr::new("setpriv")) {
            let setpriv = setpriv.display().to_string();
            let wrap = ["--pdeathsig", "KILL", "--"].map(str::to_owned);
            argv = [vec![setpriv], wrap.to_vec(), argv].concat();
        }
        Ok(Self {
            argv,
            digest,
            bundle,
        })
    }

    /// The files that its command line names.
    pub(super) fn take_bundle(&mut self) -> Option<Bundle> {
        self.bundle.take()
    }

    pub(super) fn digest(&self) -> Option<Digest> {
        self.digest
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

/// Over the files that the command line names: what else it uses, nobody knows.
fn named_files(argv: &[String]) -> Option<Digest> {
    let mut parts = Vec::new();
    for path in argv.iter().map(Path::new).filter(|path| path.is_file()) {
        let mut content = Vec::new();
        let file = File::open(path).ok()?;
        file.take(MOST_OF_A_PROGRAM)
            .read_to_end(&mut content)
            .ok()?;
        parts.push(Digest::of(&content));
    }
    let bytes = parts.iter().map(|part| part.bytes().as_slice());
    (!parts.is_empty()).then(|| Digest::of_parts(bytes))
}

#[async_trait]
impl Runner for Program {
    async fn run(
        &self,
        testcase: &TestCase,
        config: &RunnerConfig,
    ) -> Result<TestCaseRun, RunnerError> {
        let question = message(testcase, config)?;
        let (mut child, mut group) = spawn(&self.argv, config).map_err(|error| {
            RunnerError::Unreachable(format!("it could not be started: {error}"))
        })?;
        let broken = |error: io::Error| RunnerError::Unreachable(format!("its pipes: {error}"));
        let missing = || broken(io::Error::other("one is missing"));
        let mut stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let mut answer = Answer::default();
        let mut complaints = Tail::default();
        let status = {
            let asking = async {
                // Who does not read it all may answer nevertheless.
                let _ = stdin.write_all(&question).await;
                drop(stdin);
                Ok(())
            };
            let complaining = async {
                complaints.fill(stderr).await;
                Ok(())
            };
            let hearing = async { tokio::try_join!(asking, answer.fill(stdout), complaining) };
            tokio::pin!(hearing);
            // Whatever it has left behind in its group may hold its pipes for ever.
            let heard = tokio::select! {
                heard = &mut hearing => Some(heard),
                _ = group.ended.readable() => None,
            };
            if matches!(heard, Some(Ok(_))) {
                let _ = group.ended.readable().await;
            }
            group.end();
            let heard = match heard {
                Some(heard) => Ok(heard),
                None => timeout(DRAINING, &mut hearing).await,
            };
            let status = child.wait().await.map_err(broken)?;
            // Before its status: who is no longer listened to may complain about that.
            if let Ok(Err(too_long)) = heard {
                return Err(too_long);
            }
            status
        };
        if !status.success() {
            let complaints = complaints.text();
            return Err(RunnerError::Crashed(format!(
                "{}: {complaints}",
                told(status)
            )));
        }
        read(&answer.0)
    }
}

/// The process group of a program, which ends with this.
#[derive(Debug)]
struct Group {
    pid: Pid,
    ended: AsyncFd<OwnedFd>,
    /// Once its leader was reaped, its number can be somebody else's.
    over: bool,
}

impl Group {
    fn end(&mut self) {
        if !mem::replace(&mut self.over, true) {
            // Gone already is fine.
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }
}

/// Nobody waits for it any more.
impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(argv: &[String], config: &RunnerConfig) -> io::Result<(Child, Group)> {
    let missing = || io::Error::other("there is no program to start");
    let (program, arguments) = argv.split_first().ok_or_else(missing)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("SURFKIT_AGENT_MODEL", &config.agent_model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(url) = &config.agent_model_base_url {
        command.env("SURFKIT_AGENT_MODEL_BASE_URL", url);
    }
    let child = command.spawn()?;
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let pid = pid.ok_or_else(missing)?;
    #[expect(
        deprecated,
        reason = "sound for a descriptor that it owns; what replaces it is unsafe to call"
    )]
    let ended = AsyncFd::new(pidfd_open(pid, PidfdFlags::empty())?)?;
    let group = Group {
        pid,
        ended,
        over: false,
    };
    Ok((child, group))
}

fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, signal) => format!("killed by signal {}", signal.unwrap_or_default()),
    }
}

/// What it answers, up to a size.
#[derive(Debug, Default)]
struct Answer(Vec<u8>);

impl Answer {
    async fn fill(&mut self, mut stream: impl AsyncRead + Unpin) -> Result<(), RunnerError> {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(count @ 1..) = stream.read(&mut chunk).await {
            if self.0.len() + count > MOST_OF_AN_ANSWER {
                let why = format!("it is longer than {MOST_OF_AN_ANSWER} bytes");
                return Err(RunnerError::Garbage(why));
            }
            self.0.extend_from_slice(&chunk[..count]);
        }
        Ok(())
    }
}

/// The end of what it complains about.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    async fn fill(&mut self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 8 << 10];
        while let Ok(count @ 1..) = stream.read(&mut chunk).await {
            self.0.extend_from_slice(&chunk[..count]);
            let over = self.0.len().saturating_sub(COMPLAINTS);
            self.0.drain(..over);
        }
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.0).trim().to_owned();
        match text.is_empty() {
            true => "it said nothing on stderr".to_owned(),
            false => text,
        }
    }
}

#[cfg(test)]
mod tests;
