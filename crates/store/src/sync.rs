//! Disk sync grouped across all writers of a run: whoever wrote to a file hands it in, and one
//! thread syncs what has gathered, at most 200 ms after the first write. A failed sync is kept and
//! told to the next writer, because evidence that may be lost must not be counted.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use crate::attendant::{Attendant, Desk};
use crate::trouble::Trouble;

/// Leaves the disk half of the 200 ms for the sync itself.
const GATHER: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
struct Files {
    dirty: Vec<Arc<File>>,
    /// The thread syncs what it took.
    syncing: bool,
    failed: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Syncer {
    attendant: Attendant<Files>,
    /// Of all writers that hand in what they wrote.
    pub(crate) trouble: Trouble,
}

impl Syncer {
    pub(crate) fn start() -> io::Result<Self> {
        Ok(Self {
            attendant: Attendant::start("agon-sync", run)?,
            trouble: Trouble::default(),
        })
    }

    /// Asks for a sync of `file`; the same file is synced once however often it is handed in.
    pub(crate) fn soon(&self, file: &Arc<File>) -> io::Result<()> {
        let desk = self.attendant.desk();
        let files = &mut desk.lock().work;
        if let Some(failed) = &files.failed {
            return Err(io::Error::other(format!(
                "an earlier disk sync failed: {failed}"
            )));
        }
        if !files.dirty.iter().any(|other| Arc::ptr_eq(other, file)) {
            files.dirty.push(Arc::clone(file));
            desk.wake();
        }
        Ok(())
    }

    /// Syncs what has gathered and waits for what is on its way; tells of any sync that failed.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let desk = self.attendant.desk();
        let dirty = std::mem::take(&mut desk.lock().work.dirty);
        sync_all(&dirty)?;
        let state = desk.wait_while(desk.lock(), |files| files.syncing);
        match &state.work.failed {
            None => Ok(()),
            Some(failed) => Err(io::Error::other(format!("a disk sync failed: {failed}"))),
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

fn run(desk: &Desk<Files>) {
    let mut state = desk.lock();
    loop {
        state = desk.wait_while(state, |files| files.dirty.is_empty());
        state = desk.pause(state, GATHER);
        let dirty = std::mem::take(&mut state.work.dirty);
        if state.stopping && dirty.is_empty() {
            return;
        }
        state.work.syncing = true;
        drop(state);
        let failed = sync_all(&dirty).err();
        state = desk.lock();
        state.work.syncing = false;
        if let Some(error) = failed {
            state.work.failed = Some(error.to_string());
        }
        desk.wake();
    }
}
