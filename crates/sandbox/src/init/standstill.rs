//! Makes everybody in the sandbox but us stand still, and go on again, by signals. Whoever stood still
//! before that does so afterwards. Knows nothing of who started whom.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::processes::{Process, Processes};

/// A process that is told to stop does so when it next comes out of the kernel.
const LONGEST: Duration = Duration::from_secs(5);

/// Everybody stands still.
#[derive(Debug)]
pub(super) struct Standstill {
    /// By number and start: those who were stopped by somebody else, such as a shell.
    before: HashSet<(u32, u64)>,
}

impl Standstill {
    /// Parents first, each before the next is told: a shell that still runs would take its stopped
    /// children for suspended jobs. Those born meanwhile are stopped all at once, in which no fork can
    /// fall; what they may have woken is found by the next look.
    pub(super) fn bring() -> io::Result<Self> {
        let deadline = Instant::now() + LONGEST;
        let everybody = by_age();
        let stopped = everybody.iter().filter(|process| process.state == b'T');
        let before = stopped.map(key).collect();
        for process in &everybody {
            signal(process, Signal::STOP);
            while !stands(process) && Instant::now() < deadline {
                thread::yield_now();
            }
        }
        loop {
            // "Group 1" is everybody but process 1 for the kernel.
            let _ = kill_process_group(Pid::INIT, Signal::STOP);
            if by_age().iter().all(stands) {
                return Ok(Self { before });
            }
            if Instant::now() >= deadline {
                let stuck = Self { before };
                stuck.end();
                return Err(io::Error::other("some programs do not stand still"));
            }
            thread::yield_now();
        }
    }

    /// Children first, for the same reason.
    pub(super) fn end(self) {
        for process in by_age().iter().rev() {
            if !self.before.contains(&key(process)) {
                signal(process, Signal::CONT);
            }
        }
    }
}

fn key(process: &Process) -> (u32, u64) {
    (process.pid, process.start)
}

/// Everybody alive but us, the oldest first: nobody is older than his parent.
fn by_age() -> Vec<Process> {
    let now = Processes::now();
    let others = now.iter().filter(|p| p.pid > 1 && !p.is_dead());
    let mut others: Vec<_> = others.copied().collect();
    others.sort_by_key(|process| (process.start, process.pid));
    others
}

fn signal(process: &Process, signal: Signal) {
    if let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
        // It may have ended since.
        let _ = kill_process(pid, signal);
    }
}

/// Whether none of its threads runs, or will before it goes on. One that waits in the kernel and can't
/// be interrupted has been told, and stops before it comes back to its own code.
fn stands(process: &Process) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", process.pid));
    let states = threads
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| {
            let stat = fs::read(thread.path().join("stat")).ok()?;
            Process::parse(&stat).map(|thread| thread.state)
        });
    let mut states = states;
    states.all(|state| matches!(state, b'T' | b't' | b'D' | b'Z' | b'X'))
}
