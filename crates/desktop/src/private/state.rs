//! How a private X server stands when it no longer answers, from what the kernel tells of its processes. Its
//! clients can ask for so much that it dies or has no time for anybody else, but they are no processes that
//! could signal it: who killed or stopped it came from outside. Knows nothing of trials.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Of one that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// It runs, and is busy or serves somebody else alone.
    Runs,
    /// It ended of what its clients asked for. How, in words.
    Ended(String),
    /// It was killed or stopped from outside. How, in words.
    Disturbed(String),
}

/// Beyond these, a status is that of a shell for a program that a signal ended.
const SIGNALS: i32 = 128;

/// Signals that a program gets for what it does itself: ILL, TRAP, ABRT, BUS, FPE, SEGV, PIPE, XCPU, XFSZ, SYS.
const OWN: [i32; 10] = [4, 5, 6, 7, 8, 11, 13, 24, 25, 31];

impl ServerState {
    /// From the end of its jail, whose status is that of the server.
    pub(super) fn of_end(status: ExitStatus) -> Self {
        let code = status.code().unwrap_or_default();
        let signal = match status.signal() {
            Some(signal) => Some(signal),
            None if code > SIGNALS => Some(code - SIGNALS),
            None => None,
        };
        match signal {
            None => Self::Ended(format!("its X server ended with status {code}")),
            Some(signal) if OWN.contains(&signal) => {
                Self::Ended(format!("its X server crashed with signal {signal}"))
            }
            Some(signal) => Self::Disturbed(format!(
                "its X server was killed from outside with signal {signal}"
            )),
        }
    }

    /// Of a jail that is still there.
    pub(super) fn of_processes(jail: u32) -> Self {
        match below(jail).iter().any(|process| process.stopped) {
            true => Self::Disturbed("its X server was stopped from outside".to_owned()),
            false => Self::Runs,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Process {
    pid: u32,
    parent: u32,
    stopped: bool,
}

impl Process {
    fn find(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything.
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let stopped = matches!(fields.next()?, "T" | "t");
        let parent = fields.next()?.parse().ok()?;
        Some(Self {
            pid,
            parent,
            stopped,
        })
    }
}

/// The processes below `root`, and itself.
fn below(root: u32) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<Process> = entries
        .filter_map(|entry| Process::find(entry.file_name().to_str()?.parse().ok()?))
        .collect();
    let mut found: Vec<Process> = all.iter().copied().filter(|one| one.pid == root).collect();
    let mut looked = 0;
    while let Some(&above) = found.get(looked) {
        looked += 1;
        found.extend(all.iter().filter(|one| one.parent == above.pid));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_its_clients_ended_is_told_from_one_that_was_killed() {
        let exited = |code: i32| ServerState::of_end(ExitStatus::from_raw(code << 8));
        let signalled = |signal: i32| ServerState::of_end(ExitStatus::from_raw(signal));
        // Out of memory it says so and ends, or crashes; a key of the keymap ends it with 0.
        for code in [0, 1, 127, 134, 139] {
            assert!(matches!(exited(code), ServerState::Ended(_)), "{code}");
        }
        for code in [129, 130, 137, 143] {
            assert!(matches!(exited(code), ServerState::Disturbed(_)), "{code}");
        }
        // The jail itself.
        assert!(matches!(signalled(9), ServerState::Disturbed(_)));
        assert!(matches!(signalled(11), ServerState::Ended(_)));
    }
}
