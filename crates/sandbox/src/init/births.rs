//! Sees to it that nobody in the sandbox holds up the start of a program. The copy of us that is about
//! to become it can be stopped by everybody here, and whoever starts a program waits for that copy: the
//! whole init would stand still. Knows nothing of the programs.

use std::fs;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::processes::{Processes, kill};

/// Nobody needs that long to become a program, unless the machine is busy.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(super) struct Births {
    /// When the one that is under way began, in hundredths of a second since the machine started.
    since: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Births {
    /// Starts a program while [`Births::watch`] looks on.
    pub(super) fn attended<T>(&self, start: impl FnOnce() -> T) -> T {
        self.set(Some(tick()));
        let started = start();
        self.set(None);
        started
    }

    /// Kills children of ours that are stopped while they are born, for as long as we live.
    pub(super) fn watch(&self) {
        let mut since = self.lock();
        loop {
            let Some(begun) = *since else {
                let waited = self.changed.wait(since);
                since = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let same = |now: &mut Option<u64>| *now == Some(begun);
            let waited = self.changed.wait_timeout_while(since, PATIENCE, same);
            let (guard, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            since = guard;
            if waited.timed_out() {
                // Killed and not woken: it could be stopped again at once.
                let now = Processes::now();
                let held = now
                    .iter()
                    .filter(|p| p.parent == 1 && p.state == b'T' && p.start >= begun);
                held.for_each(|process| drop(kill(process)));
            }
        }
    }

    fn set(&self, since: Option<u64>) {
        *self.lock() = since;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<u64>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As `/proc` counts the starts of processes. Without it nobody is young.
fn tick() -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = uptime.split_ascii_whitespace().next().unwrap_or_default();
    seconds.replace('.', "").parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::processes::Process;

    #[test]
    fn moments_are_those_of_processes() {
        let before = tick();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let start = Process::find(child.id()).unwrap().start;
        let after = tick();
        child.wait().unwrap();
        assert!(
            (before..=after).contains(&start),
            "{before} {start} {after}"
        );
    }
}
