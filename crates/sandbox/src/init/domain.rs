//! Keeps programs of one user out of each other's memory. The kernel (Landlock) lets a process trace another, or
//! open its memory, descriptors or environment, only if that one is in the same domain or below it. So what an
//! agent runs is in one domain, and each program of the task in one of its own. Nothing else is taken from
//! them: files, signals and names of processes are as before. A domain is entered by a thread, and what that
//! thread starts is in it.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use landlock::{
    AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};

type Job = Box<dyn FnOnce() + Send>;

/// A thread in a domain, for as long as we live.
#[derive(Debug)]
pub(super) struct Domain(Sender<Job>);

impl Domain {
    /// An error where the kernel has no such domains.
    pub(super) fn open() -> io::Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let (tell, entered) = channel();
        thread::Builder::new()
            .name("commands".to_owned())
            .spawn(move || {
                let ready = enter();
                let gone = ready.is_err();
                let _ = tell.send(ready);
                if !gone {
                    queue.into_iter().for_each(|job| job());
                }
            })?;
        entered.recv().map_err(io::Error::other)??;
        Ok(Self(jobs))
    }

    /// Starts something in the domain.
    pub(super) fn start<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (tell, started) = channel();
        let job = move || drop(tell.send(start()));
        // One that is gone does not answer.
        let _ = self.0.send(Box::new(job));
        started.recv().map_err(io::Error::other)
    }
}

/// Starts something in a domain of its own.
pub(super) fn alone<T: Send + 'static>(
    start: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let inside = thread::Builder::new().spawn(move || enter().map(|()| start()))?;
    let panicked = |_| io::Error::other("the thread that starts a program panicked");
    inside.join().map_err(panicked)?
}

/// Puts this thread into a new domain below its own. A domain has to forbid something; all that this one does is
/// allowed again for every file. What it names is what each domain would forbid unless told otherwise: moving
/// files from one folder to another.
fn enter() -> io::Result<()> {
    let forbidden = AccessFs::Refer;
    let entered = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(forbidden)?
            .create()?
            .add_rule(PathBeneath::new(PathFd::new("/")?, forbidden))?
            .restrict_self()
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    };
    match entered().map_err(io::Error::other)?.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        _ => Err(io::Error::other("the kernel does not enforce it")),
    }
}
