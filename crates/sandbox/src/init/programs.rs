//! The programs that the init has started: who they are, when they ended, how to end them. All
//! waiting happens in one thread, which also reaps the orphans of the sandbox.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, wait, waitid,
};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};

use super::births::Births;
use super::domain::{self, Domain};
use super::files::resolve;
use super::processes::{Process, Processes, kill_all};
use super::standstill::Standstill;
use super::wire::{Ended, Start};
use crate::contract::Moment;

/// Where the verdict channel is in a program that has one.
const VERDICT: i32 = 3;

/// The kernel shall prefer any program to us when memory runs out.
const OOM_SCORE: &str = "500";

/// How long those who were killed may take to go: who is held by a tracer, and who is not.
const HELD: Duration = Duration::from_secs(5);
const LAST: Duration = Duration::from_secs(20);

/// How many ended programs are remembered.
const REMEMBERED: usize = 64;

/// Wide, so that no program folds its lines for us.
const ROWS: u16 = 50;
const COLUMNS: u16 = 1000;

#[derive(Debug)]
pub(super) struct Programs {
    table: Mutex<Table>,
    changed: Condvar,
    births: Births,
    /// Where all are started that need not be alone, once some shall be.
    commands: OnceLock<Domain>,
}

#[derive(Debug, Default)]
struct Table {
    /// Programs by pid.
    running: HashMap<u32, Program>,
    /// Those that ended last: what they left behind may still have to go.
    ended: VecDeque<Program>,
    /// There is nobody in the sandbox but us.
    alone: bool,
    /// Nobody will come any more.
    closed: bool,
    /// Everybody stands still, and nobody is started.
    paused: Option<Standstill>,
}

impl Table {
    fn may_start(&self) -> io::Result<()> {
        match self.paused {
            None => Ok(()),
            Some(_) => Err(io::Error::other("the sandbox is paused")),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Program {
    id: u64,
    pid: u32,
    start: u64,
}

impl Programs {
    pub(super) fn new() -> Self {
        Self {
            table: Mutex::new(Table {
                alone: true,
                ..Table::default()
            }),
            changed: Condvar::new(),
            births: Births::default(),
            commands: OnceLock::new(),
        }
    }

    /// From here on, programs can be started that no other can look into, as far as the kernel knows how.
    pub(super) fn keep_apart(&self) {
        if let Ok(domain) = Domain::open() {
            let _ = self.commands.set(domain);
        }
    }

    pub(super) fn keeps_apart(&self) -> bool {
        self.commands.get().is_some()
    }

    /// Watches over starts; never returns.
    pub(super) fn watch_births(&self) {
        self.births.watch();
    }

    /// Starts a program on the given descriptors, in a process group of its own. `started` runs
    /// before anybody can hear that the program has ended.
    pub(super) fn spawn(
        &self,
        id: u64,
        start: &Start,
        base: &BTreeMap<String, String>,
        descriptors: Vec<OwnedFd>,
        started: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut command = piped(start, base, descriptors)?;
        let mut table = self.lock();
        table.may_start()?;
        let spawn = || self.among_commands(move || command.spawn());
        let child = self.births.attended(spawn)??;
        self.enter(&mut table, child.id(), id);
        started()
    }

    /// The same; where programs are kept apart, no other can look into this one.
    pub(super) fn spawn_apart(
        &self,
        id: u64,
        start: &Start,
        base: &BTreeMap<String, String>,
        descriptors: Vec<OwnedFd>,
        started: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.keeps_apart() {
            return self.spawn(id, start, base, descriptors, started);
        }
        let mut command = piped(start, base, descriptors)?;
        let mut table = self.lock();
        table.may_start()?;
        let spawn = || domain::alone(move || command.spawn());
        let child = self.births.attended(spawn)??;
        self.enter(&mut table, child.id(), id);
        started()
    }

    /// Starts something where all are that an agent runs.
    fn among_commands<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        match self.commands.get() {
            Some(domain) => domain.start(start),
            None => Ok(start()),
        }
    }

    /// Starts a program on a terminal of its own and hands over the controlling end.
    pub(super) fn terminal(
        &self,
        id: u64,
        start: &Start,
        base: &BTreeMap<String, String>,
        started: impl FnOnce(OwnedFd) -> io::Result<()>,
    ) -> io::Result<()> {
        let (pty, pts) = pty_process::blocking::open().map_err(io::Error::other)?;
        pty.resize(pty_process::Size::new(ROWS, COLUMNS))
            .map_err(io::Error::other)?;
        let mut modes = tcgetattr(&pty)?;
        modes.local_modes.remove(LocalModes::ECHO);
        modes.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&pty, OptionalActions::Now, &modes)?;

        let mut command = pty_process::blocking::Command::new(program(start)?)
            .args(start.argv.get(1..).unwrap_or_default())
            .current_dir(&start.cwd)
            .env("PWD", resolve(&start.cwd));
        for (name, value) in base.iter().chain(&start.env) {
            command = command.env(name, value);
        }
        let mut table = self.lock();
        table.may_start()?;
        let spawn = || self.among_commands(move || command.spawn(pts));
        let child = self.births.attended(spawn)?;
        let child = child.map_err(|error| match error {
            pty_process::Error::Io(error) => error,
            other => io::Error::other(other),
        })?;
        self.enter(&mut table, child.id(), id);
        started(pty.into())
    }

    fn enter(&self, table: &mut Table, pid: u32, id: u64) {
        let start = Process::find(pid).map_or(0, |process| process.start);
        table.running.insert(pid, Program { id, pid, start });
        table.alone = false;
        self.changed.notify_all();
        // Best effort: without it the kernel may choose by size alone, and we are small.
        let _ = fs::write(format!("/proc/{pid}/oom_score_adj"), OOM_SCORE);
    }

    /// Kills a program with its session, its process group and its descendants. Those of them
    /// that fled to us (their parents ended) are known by age: whoever came to us, was born since
    /// the program started, and is of no other program's session or group, goes too.
    pub(super) fn kill(&self, id: u64) {
        let table = self.lock();
        let mut known = table.running.values().chain(&table.ended);
        let Some(&Program { pid, start, .. }) = known.find(|program| program.id == id) else {
            return;
        };
        let others = |number| number != pid && table.running.contains_key(&number);
        kill_all(|now, process| {
            // Its number may be somebody else's by now.
            let ours = now.get(pid).is_none_or(|leader| leader.start == start);
            let member = process.pid == pid || process.group == pid || process.session == pid;
            // Pids rise, so they tell who came first within a tick of the clock.
            let orphan = process.parent == 1
                && (process.start, process.pid) > (start, pid)
                && !others(process.pid)
                && !others(process.session)
                && !others(process.group);
            orphan || (ours && (member || now.descends(process.pid, pid)))
        });
    }

    /// See [`crate::contract::Sandbox::kill_command`]. Held still, the shell can neither go on with
    /// its line before it has the signal nor start anybody while we look.
    pub(super) fn kill_command(&self, shell: u32, since: Moment) -> bool {
        let pid = i32::try_from(shell).ok().and_then(Pid::from_raw);
        let (Some(pid), Some(leader)) = (pid.filter(|pid| !pid.is_init()), Process::find(shell))
        else {
            return false;
        };
        // It may have ended since; then there is nobody to be held.
        let signal = |signal| {
            let _ = kill_process(pid, signal);
        };
        let table = self.lock();
        signal(Signal::STOP);
        signal(Signal::USR2);
        let others = |number| number != shell && table.running.contains_key(&number);
        let begun = |process: &Process| {
            let in_front = i64::from(process.group) == leader.foreground;
            let orphan = process.parent == 1
                && !others(process.pid)
                && !others(process.session)
                && !others(process.group);
            let young = (process.start, process.pid) > (since.tick, since.pid);
            process.pid != shell && (in_front || (young && (process.parent == shell || orphan)))
        };
        let killed = kill_all(|now, process| {
            process.pid != shell
                && !now.descends(shell, process.pid)
                && (begun(process) || now.above(process.pid).any(begun))
        });
        if table.paused.is_none() {
            signal(Signal::CONT);
        }
        killed
    }

    /// Everybody else stands still when this returns.
    pub(super) fn pause(&self) -> io::Result<()> {
        let mut table = self.lock();
        if table.paused.is_none() {
            table.paused = Some(Standstill::bring()?);
        }
        Ok(())
    }

    pub(super) fn resume(&self) {
        if let Some(standstill) = self.lock().paused.take() {
            standstill.end();
        }
    }

    /// Ends everybody in the sandbox but us, standing still or not, and returns when they are gone, or
    /// whether they are: the kernel keeps those for ever who wait for somebody else before they go.
    pub(super) fn end_all(&self) -> bool {
        let begun = Instant::now();
        let mut table = self.lock();
        table.paused = None;
        while !table.alone {
            let waited = begun.elapsed();
            if waited > LAST || (waited > HELD && Processes::now().iter().any(Process::is_held)) {
                return false;
            }
            // The signal goes to "group 1", which the kernel reads as everybody but process 1.
            let _ = kill_process_group(Pid::INIT, Signal::KILL);
            let waited = self.changed.wait_timeout(table, Duration::from_millis(20));
            table = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Ends everybody and lets [`Programs::reap`] end.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
        self.end_all();
    }

    /// Waits until somebody has ended, and says which programs have; `None` after
    /// [`Programs::close`]. Reaping itself happens under the lock: a start that fails waits for
    /// its own child, which must not be taken from under it.
    pub(super) fn reap(&self) -> Option<Vec<(u64, Ended)>> {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = waitid(WaitId::All, ended);
        let mut found = Vec::new();
        let mut table = self.lock();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let pid = pid.as_raw_nonzero().get().unsigned_abs();
                    if let Some(program) = table.running.remove(&pid) {
                        table.ended.push_front(program);
                        table.ended.truncate(REMEMBERED);
                        let ended = match (status.exit_status(), status.terminating_signal()) {
                            (Some(code), _) => Ended::Code(code),
                            (None, signal) => Ended::Signal(signal.unwrap_or_default()),
                        };
                        found.push((program.id, ended));
                    }
                }
                Err(Errno::CHILD) => {
                    table.alone = true;
                    self.changed.notify_all();
                    break;
                }
                Ok(None) | Err(_) => break,
            }
        }
        if found.is_empty() {
            let idle = |table: &mut Table| table.alone && !table.closed;
            let waited = self.changed.wait_while(table, idle);
            let table = waited.unwrap_or_else(PoisonError::into_inner);
            if table.alone && table.closed {
                return None;
            }
        }
        Some(found)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program on these descriptors, in a process group of its own.
fn piped(
    start: &Start,
    base: &BTreeMap<String, String>,
    descriptors: Vec<OwnedFd>,
) -> io::Result<Command> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || {
        let missing = || io::Error::other("a descriptor is missing");
        descriptors.next().map(Stdio::from).ok_or_else(missing)
    };
    let mut command = command(start, base)?;
    command.stdin(next()?).stdout(next()?).stderr(next()?);
    command.process_group(0);
    if let Some(verdict) = descriptors.next() {
        command
            .fd_mappings(vec![FdMapping {
                parent_fd: verdict,
                child_fd: VERDICT,
            }])
            .map_err(io::Error::other)?;
    }
    Ok(command)
}

fn program(start: &Start) -> io::Result<&String> {
    let empty = || io::Error::new(io::ErrorKind::InvalidInput, "there is no program to start");
    start.argv.first().ok_or_else(empty)
}

fn command(start: &Start, base: &BTreeMap<String, String>) -> io::Result<Command> {
    let mut command = Command::new(program(start)?);
    command
        .args(start.argv.get(1..).unwrap_or_default())
        .current_dir(&start.cwd)
        .env("PWD", resolve(&start.cwd))
        .envs(base)
        .envs(&start.env);
    Ok(command)
}
