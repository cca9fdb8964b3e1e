//! Where the events of one attempt go: gathered in memory while it is short, to a file of its own from the
//! moment that it lasts or grows. Who records and who watches over young attempts may both move it there.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::running::{RunningAttempt, RunningList};
use crate::sync::Syncer;
use crate::writer::{Appended, events_header};

/// An attempt with more bytes of events than this, or older than [`YOUNG`], gets its own folder.
const SMALL: usize = 32 << 10;
pub(crate) const YOUNG: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Place {
    attempt: RunningAttempt,
    /// Made when first needed.
    folder: PathBuf,
    sync: Arc<Syncer>,
    /// `None`: nothing is played, and it stands in no list of what is.
    running: Option<Arc<RunningList>>,
    written: Mutex<Written>,
}

/// Whether an attempt is played, or what was played before is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Play {
    Now,
    Before,
}

#[derive(Debug)]
enum Written {
    Gathered(Vec<u8>),
    Own {
        events: Appended,
        header: u64,
        bytes: u64,
    },
    /// That it begins could not be written; who records next is told.
    Unbegun(io::Error),
    Closed,
}

/// What there is when nothing more will come.
#[derive(Debug)]
pub(crate) enum Closed {
    Gathered(Vec<u8>),
    /// A file of its own, with this many bytes of events behind its header.
    Own {
        header: u64,
        bytes: u64,
    },
}

impl Place {
    pub(crate) fn new(
        attempt: RunningAttempt,
        folder: PathBuf,
        sync: Arc<Syncer>,
        running: Option<Arc<RunningList>>,
        begins: io::Result<()>,
    ) -> Self {
        Self {
            attempt,
            folder,
            sync,
            running,
            written: Mutex::new(match begins {
                Ok(()) => Written::Gathered(Vec::new()),
                Err(error) => Written::Unbegun(error),
            }),
        }
    }

    pub(crate) fn began(&self) -> Timestamp {
        self.attempt.began
    }

    /// Takes a line of an attempt that is `age` old.
    pub(crate) fn append(&self, line: &[u8], age: Duration) -> io::Result<()> {
        let mut written = self.lock();
        match &mut *written {
            Written::Gathered(gathered) => {
                gathered.extend_from_slice(line);
                if gathered.len() > SMALL || age > YOUNG {
                    let moved = self.move_out(&mut written);
                    self.sync.trouble.noted(moved)?;
                }
                Ok(())
            }
            Written::Own { events, bytes, .. } => {
                self.sync.trouble.noted(events.append(line))?;
                *bytes += line.len() as u64;
                self.sync.trouble.noted(self.sync.soon(events.file()))
            }
            Written::Unbegun(error) => Err(unbegun(error)),
            Written::Closed => Err(io::Error::other("the attempt's record is closed")),
        }
    }

    /// The attempt is no longer young. What can't be written now is told to who records next.
    pub(crate) fn grow_old(&self) {
        let mut written = self.lock();
        if matches!(*written, Written::Gathered(_)) {
            self.move_out(&mut written).ok();
        }
    }

    pub(crate) fn close(&self) -> io::Result<Closed> {
        match std::mem::replace(&mut *self.lock(), Written::Closed) {
            Written::Gathered(gathered) => Ok(Closed::Gathered(gathered)),
            Written::Own { header, bytes, .. } => Ok(Closed::Own { header, bytes }),
            Written::Unbegun(error) => Err(unbegun(&error)),
            Written::Closed => Err(io::Error::other("the attempt's record is closed already")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_out(&self, written: &mut Written) -> io::Result<()> {
        let Written::Gathered(gathered) = written else {
            return Ok(());
        };
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join("events.jsonl");
        let mut events = Appended::create(&path)?;
        let header = events_header();
        let filled = events
            .append(header.as_bytes())
            .and_then(|_| events.append(gathered));
        if let Err(error) = filled {
            // So that another try finds no half of it.
            fs::remove_file(&path).ok();
            return Err(error);
        }
        self.sync.soon(events.file())?;
        // Only people who watch miss it if it can't be written.
        if let Some(running) = &self.running {
            running.add(&self.attempt).ok();
        }
        *written = Written::Own {
            events,
            header: header.len() as u64,
            bytes: gathered.len() as u64,
        };
        Ok(())
    }
}

/// The kind is kept: a full disk is told apart from other troubles.
fn unbegun(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("can't write to begun.jsonl: {error}"))
}
