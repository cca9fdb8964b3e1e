//! Disk sync grouped across all writers of a run: whoever wrote to a file hands it in, and one
//! thread syncs what has gathered, at most 200 ms after the first write. A failed sync is kept and
//! told to the next writer, because evidence that may be lost must not be counted.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Leaves the disk half of the 200 ms for the sync itself.
const GATHER: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
struct State {
    dirty: Vec<Arc<File>>,
    stopping: bool,
    /// The thread syncs what it took.
    syncing: bool,
    failed: Option<String>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    synced: Condvar,
}

#[derive(Debug)]
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    pub(crate) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = std::thread::Builder::new()
            .name("agon-sync".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || run(&shared)
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Asks for a sync of `file`; the same file is synced once however often it is handed in.
    pub(crate) fn soon(&self, file: &Arc<File>) -> io::Result<()> {
        let mut state = self
            .shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = &state.failed {
            return Err(io::Error::other(format!(
                "an earlier disk sync failed: {failed}"
            )));
        }
        if !state.dirty.iter().any(|other| Arc::ptr_eq(other, file)) {
            state.dirty.push(Arc::clone(file));
            self.shared.changed.notify_one();
        }
        Ok(())
    }

    /// Syncs what has gathered and waits for what is on its way; tells of any sync that failed.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let lock = || {
            let state = self.shared.state.lock();
            state.unwrap_or_else(PoisonError::into_inner)
        };
        let dirty = std::mem::take(&mut lock().dirty);
        sync_all(&dirty)?;
        let state = self.shared.synced.wait_while(lock(), |state| state.syncing);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        match &state.failed {
            None => Ok(()),
            Some(failed) => Err(io::Error::other(format!("a disk sync failed: {failed}"))),
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .stopping = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// From this many files on, their whole file system is synced at once: a sync of each costs
/// milliseconds, and a run that keeps a picture per step would fall behind.
const MANY: usize = 8;

fn sync_all(files: &[Arc<File>]) -> io::Result<()> {
    if files.len() < MANY {
        return files.iter().try_for_each(|file| file.sync_data());
    }
    let mut synced = Vec::new();
    for file in files {
        let device = file.metadata()?.dev();
        if !synced.contains(&device) {
            rustix::fs::syncfs(file)?;
            synced.push(device);
        }
    }
    Ok(())
}

fn run(shared: &Shared) {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        while state.dirty.is_empty() && !state.stopping {
            state = shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if !state.stopping {
            let gather = shared
                .changed
                .wait_timeout_while(state, GATHER, |s| !s.stopping);
            state = gather.unwrap_or_else(PoisonError::into_inner).0;
        }
        let dirty = std::mem::take(&mut state.dirty);
        let stop = state.stopping && dirty.is_empty();
        state.syncing = !stop;
        drop(state);
        if stop {
            return;
        }
        let failed = sync_all(&dirty).err();
        state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.syncing = false;
        shared.synced.notify_all();
        if let Some(error) = failed {
            state.failed = Some(error.to_string());
        }
    }
}
