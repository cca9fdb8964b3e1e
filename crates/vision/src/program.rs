//! Another program, run to its end: what it is given, what it writes, both bounded, with a deadline.
//! It has a process group of its own, and whatever is left of that when it has ended, or when its time
//! is over, is killed. Should Agon itself be killed, a program lives on until it has written to a closed
//! pipe or is done: dying with a parent must be asked for in the child, which takes unsafe code.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// Bytes of output that are kept.
const MOST_OUTPUT: u64 = 16 << 20;
/// How much of what it complained about is told.
const TOLD: usize = 600;

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("can't start {program}: {source}")]
    Start {
        program: String,
        source: std::io::Error,
    },
    #[error("{program} did not end within {} s", after.as_secs())]
    TooSlow { program: String, after: Duration },
    #[error("{program} failed: {said}")]
    Failed { program: String, said: String },
}

/// What it wrote to standard output.
pub(crate) fn run(
    command: &mut Command,
    input: Vec<u8>,
    within: Duration,
) -> Result<Vec<u8>, ProgramError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let deadline = Instant::now() + within;
    let mut running = Running::start(command).map_err(|source| ProgramError::Start {
        program: program.clone(),
        source,
    })?;
    let ended = talk(&mut running.child, input, deadline)
        // What has closed its output may still go on.
        .filter(|_| running.has_ended(deadline));
    let status = running.end();
    let Some([output, said]) = ended else {
        return Err(ProgramError::TooSlow {
            program,
            after: within,
        });
    };
    if status.is_ok_and(|status| status.success()) {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&said);
    let said = said.trim();
    let from = said
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| said.len() - at <= TOLD)
        .unwrap_or_default();
    Err(ProgramError::Failed {
        program,
        said: said[from..].to_owned(),
    })
}

/// A program and those that it starts. None of them outlives this.
struct Running {
    child: Child,
    reaped: bool,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        Ok(Self {
            child,
            reaped: false,
        })
    }

    /// Waits for it.
    fn has_ended(&self, deadline: Instant) -> bool {
        let Ok(process) = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()) else {
            return false;
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], left.as_ref()) {
                Ok(ready) => return ready > 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Kills what is left. The status of a program that has ended by itself stays what it was.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.reaped {
            // The group's number is taken until the program itself is reaped.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            self.reaped = true;
        }
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Standard output and standard error, once both are closed; `None` when the time is over.
fn talk(child: &mut Child, input: Vec<u8>, deadline: Instant) -> Option<[Vec<u8>; 2]> {
    let (tell, heard) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // One that doesn't read to the end is no error by itself.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as _),
        child.stderr.take().map(|pipe| Box::new(pipe) as _),
    ];
    for (which, pipe) in outputs.into_iter().enumerate() {
        let (tell, mut pipe) = (tell.clone(), pipe?);
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            // The rest must be read as well, or it would never end.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            let _ = tell.send((which, bytes));
        });
    }
    let mut texts = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        let left = deadline.saturating_duration_since(Instant::now());
        let (which, bytes) = heard.recv_timeout(left).ok()?;
        texts[which] = bytes;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_given_comes_back() {
        let given = vec![7; 1 << 20];
        assert_eq!(run(&mut shell("cat"), given.clone(), SOON).unwrap(), given);
    }

    #[test]
    fn a_failure_tells_what_was_said() {
        let error = run(&mut shell("echo no luck >&2; exit 3"), Vec::new(), SOON).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: no luck");
    }

    #[test]
    fn a_flood_is_cut_and_ends() {
        let output = run(&mut shell("head -c 20000000 /dev/zero"), Vec::new(), SOON).unwrap();
        assert_eq!(output.len() as u64, MOST_OUTPUT);
    }

    #[test]
    fn one_that_does_not_end_is_killed() {
        let slow = run(
            &mut shell("exec sleep 1000"),
            Vec::new(),
            Duration::from_millis(100),
        );
        assert!(matches!(slow, Err(ProgramError::TooSlow { .. })));
    }

    /// What becomes of a child that the script leaves behind in the background: it holds a pipe open
    /// until it is killed.
    fn leaves_nobody_behind(rest: &str, within: Duration) -> Result<Vec<u8>, ProgramError> {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let (tell, closed) = mpsc::channel();
        let held = pipe.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = std::fs::File::open(held).and_then(|mut f| f.read_to_end(&mut bytes));
            tell.send(read.map(|_| bytes)).unwrap();
        });
        let script = format!(
            "exec 3>{}; echo held >&3; sleep 1000 >/dev/null 2>&1 </dev/null & {rest}",
            pipe.display()
        );
        let outcome = run(&mut shell(&script), Vec::new(), within);
        let held = closed.recv_timeout(SOON).expect("it was left behind");
        assert_eq!(held.unwrap(), b"held\n");
        outcome
    }

    #[test]
    fn children_go_with_it() {
        assert_eq!(leaves_nobody_behind("echo ok", SOON).unwrap(), b"ok\n");
        let slow = leaves_nobody_behind("wait", Duration::from_secs(2));
        assert!(matches!(slow, Err(ProgramError::TooSlow { .. })));
    }

    #[test]
    fn one_that_closes_its_output_is_waited_for_and_not_for_ever() {
        let quiet = "exec >/dev/null 2>&1; head -c 1 /dev/null; exit 3";
        let error = run(&mut shell(quiet), Vec::new(), SOON).unwrap_err();
        assert!(matches!(error, ProgramError::Failed { .. }), "{error}");
        let endless = "exec >/dev/null 2>&1; exec sleep 1000";
        let slow = run(&mut shell(endless), Vec::new(), Duration::from_millis(200));
        assert!(matches!(slow, Err(ProgramError::TooSlow { .. })));
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let error = run(&mut Command::new("no-such-program"), Vec::new(), SOON).unwrap_err();
        assert!(error.to_string().contains("no-such-program"), "{error}");
    }
}
