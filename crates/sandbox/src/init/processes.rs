//! The processes of this machine or sandbox as `/proc` tells them, and who belongs to whom.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal, test_kill_process,
};

/// The part of `/proc/PID/stat` that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) state: u8,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// Process group in the foreground of its terminal; negative without one.
    pub(crate) foreground: i64,
    pub(crate) threads: u64,
    /// Clock ticks since the machine started: with the pid, this names a process for good.
    pub(crate) start: u64,
}

impl Process {
    /// `None` also if it could not be read.
    pub(crate) fn find(pid: u32) -> Option<Self> {
        Self::look_up(pid).ok().flatten()
    }

    /// `None` only if nobody has the number. Whoever runs out of descriptors or memory learns nothing, and
    /// some systems hide processes that are there.
    pub(crate) fn look_up(pid: u32) -> io::Result<Option<Self>> {
        let stat = fs::read(format!("/proc/{pid}/stat"));
        match stat {
            Ok(stat) => Self::parse(&stat)
                .map(Some)
                .ok_or_else(|| io::Error::other("an unknown form of /proc/PID/stat")),
            Err(_) if nobody_has(pid) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The name of a process stands in parentheses and may hold anything, so look from its end.
    pub(crate) fn parse(stat: &[u8]) -> Option<Self> {
        let open = stat.iter().position(|&byte| byte == b'(')?;
        let close = stat.iter().rposition(|&byte| byte == b')')?;
        let pid = std::str::from_utf8(stat.get(..open)?).ok()?;
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            pid: pid.trim().parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            foreground: fields.get(5)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// Stopped by whoever traces it. One that was killed and still is waits in its exit for its tracer, and can be
    /// ended by nobody else.
    pub(crate) fn is_held(&self) -> bool {
        self.state == b't'
    }

    /// Ended, and only waiting to be noticed by its parent. The state is that of the first thread:
    /// others may go on without it.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X') && self.threads <= 1
    }
}

/// Needs neither descriptors nor `/proc`.
fn nobody_has(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Everybody alive at one moment.
#[derive(Debug, Default)]
pub(crate) struct Processes(HashMap<u32, Process>);

impl Processes {
    pub(crate) fn now() -> Self {
        let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
        folders
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(Process::find)
            .collect()
    }

    pub(crate) fn get(&self, pid: u32) -> Option<&Process> {
        self.0.get(&pid)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.0.values()
    }

    /// Parent, grandparent and so on. Bounded, since the snapshot is not taken at once and may hold
    /// a circle where numbers were reused.
    pub(crate) fn above(&self, pid: u32) -> impl Iterator<Item = &Process> {
        let parent = |process: &Process| self.0.get(&process.parent);
        std::iter::successors(self.0.get(&pid).and_then(parent), move |up| parent(up))
            .take(self.0.len())
    }

    /// Whether `ancestor` is above `pid`, which it may be without being alive itself.
    pub(crate) fn descends(&self, pid: u32, ancestor: u32) -> bool {
        let is_child = |process: &Process| process.parent == ancestor;
        self.0.get(&pid).is_some_and(is_child) || self.above(pid).any(is_child)
    }
}

impl FromIterator<Process> for Processes {
    fn from_iter<I: IntoIterator<Item = Process>>(processes: I) -> Self {
        Self(processes.into_iter().map(|p| (p.pid, p)).collect())
    }
}

/// How many of the killed are watched at once: descriptors are few, and the others are seen by the
/// next look.
const WATCHED: usize = 32;

/// A killed process is gone in no time, unless the kernel itself is stuck.
const LAST: Duration = Duration::from_secs(10);

/// How long one that was killed may be held by its tracer, which was killed too, or has its own reasons.
const HELD: Duration = Duration::from_millis(300);

/// How often those who take longer are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What is left then is looked at again by the next start.
const PATIENCE: Duration = Duration::from_secs(3);

/// Kills whomever `chosen` names, again and again until it names nobody: processes that were born
/// while we looked are found by the next look. Returns when they are dead, or cannot be ended, and
/// says whether there was anybody.
pub(crate) fn kill_all(chosen: impl Fn(&Processes, &Process) -> bool) -> bool {
    let deadline = Instant::now() + LAST;
    let mut anybody = false;
    loop {
        let now = Processes::now();
        let victims = now
            .iter()
            .filter(|process| process.pid > 1 && !process.is_dead() && chosen(&now, process));
        let mut victims: Vec<_> = victims.collect();
        if victims.is_empty() {
            return anybody;
        }
        anybody = true;
        // Parents first: a shell would go on with its next command when its child has ended.
        victims.sort_by_key(|process| (process.start, process.pid));
        let mut watched = Vec::new();
        for process in victims {
            let killed = kill(process);
            if watched.len() < WATCHED {
                watched.extend(killed);
            }
        }
        for process in &watched {
            end_by(process, deadline);
        }
        if Instant::now() >= deadline {
            return anybody;
        }
    }
}

/// Kills them all and waits for their ends, once for all of them; returns those who can't be ended. Held by a tracer
/// for as long as [`HELD`] after its death, one of them decides for the others, who may well be waiting for it.
pub(crate) fn end_together(victims: impl IntoIterator<Item = Process>) -> Vec<Process> {
    let mut victims: Vec<Process> = victims.into_iter().collect();
    victims.sort_by_key(|process| process.pid);
    victims.dedup_by_key(|process| process.pid);
    let begun = Instant::now();
    loop {
        let alive = |process: &Process| {
            let found = Process::find(process.pid)?;
            (found.start == process.start && !found.is_dead()).then_some(found)
        };
        let left: Vec<Process> = victims.iter().filter_map(alive).collect();
        let waited = begun.elapsed();
        let held = waited > HELD && left.iter().any(Process::is_held);
        if left.is_empty() || held || waited > PATIENCE {
            return left;
        }
        let mut watched = Vec::new();
        for process in &left {
            let killed = kill(process);
            if watched.len() < WATCHED {
                watched.extend(killed);
            }
        }
        let next_look = Instant::now() + LOOK;
        for process in &watched {
            end_by(process, next_look);
        }
    }
}

/// Something to see its end by; `None` if it has ended by itself since the look, which is as good,
/// or if there are no descriptors left.
pub(crate) fn kill(process: &Process) -> Option<OwnedFd> {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw)?;
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(opened) => {
            pidfd_send_signal(&opened, Signal::KILL).ok()?;
            Some(opened)
        }
        Err(Errno::SRCH) => None,
        Err(_) => {
            // By number alone, so look once more whose it is.
            if Process::find(process.pid).is_some_and(|found| found.start == process.start) {
                let _ = kill_process(pid, Signal::KILL);
            }
            None
        }
    }
}

/// Whether a process that was killed, or is about to end, does so in time.
pub(crate) fn ends(process: &OwnedFd) -> bool {
    end_by(process, Instant::now() + LAST)
}

fn end_by(process: &OwnedFd, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec {
        tv_sec: left.as_secs().cast_signed(),
        tv_nsec: left.subsec_nanos().into(),
    };
    let polled = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left));
    polled.is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        Process {
            pid,
            parent,
            state: b'S',
            group: pid,
            session: 1,
            foreground: -1,
            threads: 1,
            start: 0,
        }
    }

    #[test]
    fn a_hostile_name_does_not_move_the_fields() {
        let stat = b"42 (a) R 1 1 (b) S 7 8 9 10 11 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 1 2";
        let read = Process::parse(stat).unwrap();
        assert_eq!((read.pid, read.parent, read.group), (42, 7, 8));
        assert_eq!((read.session, read.foreground, read.start), (9, 11, 12345));
    }

    #[test]
    fn our_own_entry_reads() {
        let me = Process::find(std::process::id()).unwrap();
        assert_eq!(me.pid, std::process::id());
        assert!(!me.is_dead());
    }

    #[test]
    fn descent_goes_over_several_generations_and_ends_in_circles() {
        let all: Processes = [
            process(2, 1),
            process(3, 2),
            process(4, 3),
            process(8, 9),
            process(9, 8),
        ]
        .into_iter()
        .collect();
        assert!(all.descends(4, 2));
        assert!(!all.descends(2, 4));
        assert!(!all.descends(8, 2));
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_fail_hard(stat in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Process::parse(&stat);
        }
    }
}
