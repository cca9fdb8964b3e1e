//! The processes of a sandbox and the place they have: how they end, and what their end means.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::sync::oneshot;

use super::network::OpenNetwork;
use super::slot::Slot;
use super::worker::Worker;
use crate::error::SandboxError;
use crate::init::processes::{ends, kill_all};

/// The most that is shown of what bubblewrap or the init have said.
const LONGEST_WORDS: usize = 4096;

/// Dropping it ends everything inside, without waiting.
#[derive(Debug)]
pub(super) struct Body {
    parts: Option<Parts>,
}

#[derive(Debug)]
struct Parts {
    bubblewrap: Child,
    init: Option<OwnedFd>,
    /// Not to be signalled by this number: who watches the init knows when it is another's.
    init_pid: Option<Pid>,
    network: Option<OpenNetwork>,
    /// Given back when everybody is dead.
    slot: Arc<Slot>,
}

impl Body {
    pub(super) fn new(bubblewrap: Child, slot: Arc<Slot>) -> Self {
        Self {
            parts: Some(Parts {
                bubblewrap,
                init: None,
                init_pid: None,
                network: None,
                slot,
            }),
        }
    }

    pub(super) fn bubblewrap(&self) -> Option<Pid> {
        let parts = self.parts.as_ref()?;
        Some(Pid::from_child(&parts.bubblewrap))
    }

    /// From now on the init's end, which is the end of everybody inside, can be seen.
    pub(super) fn watch(&mut self, init: Pid) {
        if let Some(parts) = &mut self.parts {
            parts.init = pidfd_open(init, PidfdFlags::empty()).ok();
            parts.init_pid = Some(init);
        }
    }

    pub(super) fn init(&self) -> Option<Pid> {
        self.parts.as_ref()?.init_pid
    }

    /// The network that it lives in goes with it.
    pub(super) fn keep(&mut self, network: OpenNetwork) {
        if let Some(parts) = &mut self.parts {
            parts.network = Some(network);
        }
    }

    /// Ends everything inside. What is returned resolves when all is gone.
    pub(super) fn end(&mut self) -> oneshot::Receiver<()> {
        let (done, gone) = oneshot::channel();
        if let Some(parts) = self.parts.take() {
            parts.bury(done);
        }
        gone
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.end();
    }
}

impl Parts {
    fn bury(mut self, done: oneshot::Sender<()>) {
        if let Some(init) = &self.init {
            let _ = pidfd_send_signal(init, Signal::KILL);
        }
        let Ok(undertaker) = Worker::undertaker() else {
            return;
        };
        undertaker.run(move || {
            self.wait();
            drop(self);
            let _ = done.send(());
        });
    }

    /// Bubblewrap ends by itself when its init does, and an init that finds its host gone ends at
    /// once. Killed in the middle of a start it would leave its child behind, which waits for it
    /// for ever; so that is only the last resort, and includes the child.
    fn wait(&mut self) {
        drop(self.network.take());
        let bubblewrap = Pid::from_child(&self.bubblewrap);
        let gone = pidfd_open(bubblewrap, PidfdFlags::empty()).is_ok_and(|it| ends(&it));
        if !gone {
            let top = self.bubblewrap.id();
            kill_all(|now, process| process.pid == top || now.descends(process.pid, top));
        }
        let _ = self.bubblewrap.wait();
        if self.init.as_ref().is_some_and(|init| !ends(init)) {
            self.slot.give_up();
        }
    }
}

/// What tells, after a sandbox has ended by itself, why it did.
#[derive(Debug)]
pub(super) struct Witness {
    /// Standard error of bubblewrap and of the init.
    words: File,
    slot: Arc<Slot>,
    /// When the sandbox was last known to live.
    oom_kills_before: AtomicU64,
}

impl Witness {
    pub(super) fn new(words: File, slot: Arc<Slot>) -> Self {
        let oom_kills_before = oom_kills(&slot).into();
        Self {
            words,
            slot,
            oom_kills_before,
        }
    }

    pub(super) fn words(&self) -> String {
        let mut buffer = vec![0; LONGEST_WORDS];
        let count = self.words.read_at(&mut buffer, 0).unwrap_or(0);
        buffer.truncate(count);
        String::from_utf8_lossy(&buffer).trim().to_owned()
    }

    /// The sandbox has answered: whom the kernel has killed until now, it has survived.
    pub(super) fn saw_it_alive(&self) {
        let now = oom_kills(&self.slot);
        self.oom_kills_before.fetch_max(now, Ordering::Relaxed);
    }

    pub(super) fn loss(&self) -> SandboxError {
        if oom_kills(&self.slot) > self.oom_kills_before.load(Ordering::Relaxed) {
            return SandboxError::OutOfMemory;
        }
        let words = self.words();
        SandboxError::Gone(if words.is_empty() {
            "its processes were ended from outside".to_owned()
        } else {
            words
        })
    }
}

fn oom_kills(slot: &Slot) -> u64 {
    slot.group().map_or(0, |group| group.oom_kills())
}
