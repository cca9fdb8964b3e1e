//! Threads that live as long as the process. Sandboxes are started from one of them, because
//! "die with the parent" follows the *thread* that started them; another one waits for their end.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::keyring;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
pub(super) struct Worker(Sender<Job>);

static SPAWNER: OnceLock<Worker> = OnceLock::new();
static UNDERTAKER: OnceLock<Worker> = OnceLock::new();

/// Starts a program from a thread that lasts, so that one which dies with its parent lives as long as
/// this process.
pub fn spawn_lasting(mut command: Command) -> io::Result<Child> {
    let (started, child) = channel();
    Worker::spawner()?.run(move || {
        if let Err(unwanted) = started.send(start(&mut command))
            && let Ok(mut child) = unwanted.0
        {
            let _ = child.kill();
            let _ = child.wait();
        }
    });
    let gone = |_| io::Error::other("the spawner is gone");
    child.recv().map_err(gone)?
}

/// Starts a program from this thread, with a session keyring of its own.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    keyring::leave()?;
    command.spawn()
}

impl Worker {
    /// Starts sandboxes.
    pub(super) fn spawner() -> io::Result<&'static Self> {
        Self::get(&SPAWNER, "agon-spawner")
    }

    /// Waits until ended sandboxes are gone.
    pub(super) fn undertaker() -> io::Result<&'static Self> {
        Self::get(&UNDERTAKER, "agon-undertaker")
    }

    fn get(cell: &'static OnceLock<Self>, name: &str) -> io::Result<&'static Self> {
        if cell.get().is_none() {
            let (jobs, queue) = channel::<Job>();
            thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || queue.into_iter().for_each(|job| job()))?;
            // Of two that race here, the loser's thread ends with its channel.
            let _ = cell.set(Self(jobs));
        }
        cell.get()
            .ok_or_else(|| io::Error::other("the thread did not start"))
    }

    /// Queues a job. The thread never ends, so it always runs.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let _ = self.0.send(Box::new(job));
    }
}
