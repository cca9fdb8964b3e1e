//! The child process: started, listened to and buried by one thread that lives as long as it does.
//!
//! That it is one thread matters: a child asks to be killed when its parent dies, and for Linux the
//! parent is the thread that started it.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_agent::play::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use super::lines::Lines;
use super::message::{FromChild, ToChild};
use super::outlet::Outlet;
use super::serve::MARK;
use crate::wire::Token;

/// So much of its complaints is kept, in bytes.
const TAIL: usize = 2000;

/// Messages that nobody has taken yet; a child that says more waits.
const WAITING: usize = 64;

/// What is heard of a child.
#[derive(Debug)]
pub(super) enum News {
    Said(FromChild),
    /// A stop was asked for, of this play or of the one before.
    Asked,
    /// It has ended; nothing comes after this.
    Gone(String),
}

/// A handle. Dropped, the child is killed.
#[derive(Debug)]
pub(super) struct Process {
    group: Arc<Group>,
    outlet: Outlet,
    wake: SyncSender<News>,
    pub(super) news: Receiver<News>,
}

impl Process {
    /// The command is this executable or another; it knows by its environment that it is a child.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let (ready, started) = sync_channel(1);
        std::thread::Builder::new()
            .name("arena-child".to_owned())
            .spawn(move || {
                command
                    .env(MARK, std::process::id().to_string())
                    // It opens our own server and the evaluator's: nothing that an agent needs.
                    .env_remove(Token::VARIABLE)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .process_group(0);
                let begun = Keeper::begin(&mut command);
                let (keeper, process) = match begun {
                    Ok((keeper, process)) => (Some(keeper), Ok(process)),
                    Err(error) => (None, Err(error)),
                };
                // Nobody waits: then the process is dropped, which kills it.
                let _ = ready.send(process);
                if let Some(keeper) = keeper {
                    keeper.keep();
                }
            })?;
        started.recv().map_err(io::Error::other)?
    }

    pub(super) fn send(&self, message: &ToChild) -> io::Result<()> {
        self.outlet.send(message)
    }

    /// From now on a stop is among the news.
    pub(super) fn wake_at(&self, stop: &Stop) -> io::Result<()> {
        let (stop, wake) = (stop.clone(), self.wake.clone());
        std::thread::Builder::new()
            .name("arena-stop".to_owned())
            .spawn(move || {
                while !stop.wait(Duration::from_secs(3600)) {}
                // Nobody listens any more: fine.
                let _ = wake.try_send(News::Asked);
            })?;
        Ok(())
    }

    pub(super) fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// Waits for the end of one that was killed, so that nothing that it does comes after this. What it
    /// still says is passed over. Says whether it is gone.
    pub(super) fn wait_for_end(&self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while !self.group.is_gone() {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.news.recv_timeout(left).is_err() {
                return self.group.is_gone();
            }
        }
        true
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// The child and what it started, until it is buried.
#[derive(Debug)]
pub(super) struct Group {
    /// `None` when it is gone: its number may be somebody else's by then.
    leader: Mutex<Option<Pid>>,
    killed: AtomicBool,
}

impl Group {
    pub(super) fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        if let Some(leader) = *self.leader() {
            // Nobody left to kill is fine.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Whether it can play: one that was killed can't, although it may not be gone yet.
    pub(super) fn is_fit(&self) -> bool {
        !self.killed.load(Ordering::Acquire) && !self.is_gone()
    }

    fn is_gone(&self) -> bool {
        self.leader().is_none()
    }

    fn leader(&self) -> MutexGuard<'_, Option<Pid>> {
        self.leader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Keeper {
    child: Child,
    handle: OwnedFd,
    group: Arc<Group>,
    tell: SyncSender<News>,
    tail: Vec<u8>,
}

impl Keeper {
    fn begin(command: &mut Command) -> io::Result<(Self, Process)> {
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let leader = Pid::from_child(&child);
        let group = Arc::new(Group {
            leader: Mutex::new(Some(leader)),
            killed: AtomicBool::new(false),
        });
        let ends = pidfd_open(leader, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|handle| Ok((handle, Outlet::new(OwnedFd::from(stdin))?)));
        let (handle, outlet) = match ends {
            Ok(ends) => ends,
            Err(error) => {
                group.kill();
                child.wait()?;
                return Err(error);
            }
        };
        let (tell, news) = sync_channel(WAITING);
        let process = Process {
            group: Arc::clone(&group),
            outlet,
            wake: tell.clone(),
            news,
        };
        let keeper = Self {
            child,
            handle,
            group,
            tell,
            tail: Vec::new(),
        };
        Ok((keeper, process))
    }

    fn keep(mut self) {
        // Whatever breaks here, the child does not outlive it.
        let _ = self.listen();
        self.group.kill();
        let end = self.bury();
        let _ = self.tell.send(News::Gone(end));
    }

    /// Until the child is dead or has closed its output.
    fn listen(&mut self) -> io::Result<()> {
        let mut lines = Lines::default();
        let (Some(mut stdout), Some(mut stderr)) =
            (self.child.stdout.take(), self.child.stderr.take())
        else {
            return Ok(());
        };
        let mut buffer = vec![0; 1 << 16];
        let mut complains = true;
        loop {
            let mut watched = vec![
                PollFd::new(&self.handle, PollFlags::IN),
                PollFd::new(&stdout, PollFlags::IN),
            ];
            if complains {
                watched.push(PollFd::new(&stderr, PollFlags::IN));
            }
            match poll(&mut watched, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is = |index: usize| {
                watched
                    .get(index)
                    .is_some_and(|fd| !fd.revents().is_empty())
            };
            let (dead, said, complained) = (is(0), is(1), is(2));
            drop(watched);
            if complained {
                let read = stderr.read(&mut buffer)?;
                complains = read > 0;
                self.complain(&buffer[..read]);
            }
            if said {
                let read = stdout.read(&mut buffer)?;
                if read == 0 {
                    return Ok(());
                }
                self.say(lines.feed(&buffer[..read]));
            } else if dead {
                // All that it said has been read, unless its children go on talking.
                while complains && has_more(&stderr) {
                    let read = stderr.read(&mut buffer)?;
                    complains = read > 0;
                    self.complain(&buffer[..read]);
                }
                return Ok(());
            }
        }
    }

    fn say(&mut self, lines: Vec<Vec<u8>>) {
        for line in lines {
            match serde_json::from_slice(&line) {
                // Nobody listens: the handle was dropped, and the child is being killed.
                Ok(message) => drop(self.tell.send(News::Said(message))),
                // Not meant for us: an agent that prints.
                Err(_) => self.complain(&[&line[..], b"\n"].concat()),
            }
        }
    }

    /// Goes where our own complaints go, and its end is kept.
    fn complain(&mut self, words: &[u8]) {
        let _ = io::stderr().write_all(words);
        self.tail.extend_from_slice(words);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
    }

    fn bury(&mut self) -> String {
        let leader = Pid::from_child(&self.child);
        // Still a zombie after this: its number is not given away until nobody can signal it any more.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
        *self.group.leader() = None;
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let tail = String::from_utf8_lossy(&self.tail);
        let tail = tail.trim();
        if tail.is_empty() {
            format!("the agent's process has ended ({status})")
        } else {
            format!("the agent's process has ended ({status}): {tail}")
        }
    }
}

fn has_more(pipe: &impl std::os::fd::AsFd) -> bool {
    let now = Timespec::default();
    let mut watched = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut watched, Some(&now)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_token_stays_here() {
        let mut command = shell("echo \"token: ${AGON_ARENA_TOKEN-none}\" >&2");
        command.env("AGON_ARENA_TOKEN", "secret");
        let process = Process::start(command).unwrap();
        let Ok(News::Gone(end)) = process.news.recv_timeout(PATIENCE) else {
            panic!("it lives on")
        };
        assert!(end.ends_with("token: none"), "{end}");
    }

    #[test]
    fn who_was_killed_is_not_fit_even_before_he_is_gone() {
        let process = Process::start(shell("exec sleep 600")).unwrap();
        assert!(process.group().is_fit());
        assert!(!process.wait_for_end(Duration::ZERO));
        process.group().kill();
        assert!(!process.group().is_fit());
        assert!(process.wait_for_end(PATIENCE));
    }
}
