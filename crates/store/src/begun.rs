//! Which attempts were ever begun: `begun.jsonl` of the run folder, one line each, written before anything is
//! played. It is never emptied, so that an attempt whose process was killed, and which therefore has no line in
//! `trials.jsonl`, stays in the record.

use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, PoisonError};

use agon_core::TaskId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::folder::RunFolder;
use crate::lines;
use crate::running::RunningAttempt;
use crate::sync::Syncer;
use crate::writer::Appended;

/// One line of `begun.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BegunAttempt {
    pub task: TaskId,
    pub epoch: u32,
    pub attempt: u32,
    pub began: Timestamp,
    /// Which process began it: counted from 1 over those that began any attempt of the run.
    pub process: u32,
}

/// As much of a line as says which attempt it is: nearly all of them ended, and are asked for nothing more.
#[derive(Deserialize)]
pub(crate) struct BegunHead<'a> {
    #[serde(borrow)]
    pub(crate) task: Cow<'a, str>,
    pub(crate) epoch: u32,
    pub(crate) attempt: u32,
    pub(crate) process: u32,
}

/// Calls `each` with every attempt that was begun, and its whole line. Lines that can't be read name none.
pub(crate) fn for_each(
    folder: &RunFolder,
    mut each: impl FnMut(&BegunHead<'_>, &[u8]),
) -> io::Result<()> {
    lines::for_each(&folder.begun_file(), |_, line| {
        if let Ok(head) = serde_json::from_slice(line) {
            each(&head, line);
        }
    })
    .map(|_torn| ())
}

/// A whole line.
pub(crate) fn parse(line: &[u8]) -> Option<BegunAttempt> {
    serde_json::from_slice(line).ok()
}

/// The file as the process sees it that writes to the folder.
#[derive(Debug)]
pub(crate) struct BegunList {
    folder: RunFolder,
    /// Made when the first attempt begins, with the number of this process.
    file: Mutex<Option<(Appended, u32)>>,
}

impl BegunList {
    pub(crate) fn of(folder: &RunFolder) -> Self {
        Self {
            folder: folder.clone(),
            file: Mutex::default(),
        }
    }

    pub(crate) fn add(&self, begins: &RunningAttempt, sync: &Syncer) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, process) = match &mut *file {
            Some(open) => open,
            none => none.insert(self.open()?),
        };
        let RunningAttempt {
            task,
            epoch,
            attempt,
            began,
        } = begins.clone();
        let mut line = serde_json::to_vec(&BegunAttempt {
            task,
            epoch,
            attempt,
            began,
            process: *process,
        })?;
        line.push(b'\n');
        file.append(&line)?;
        sync.soon(file.file())
    }

    fn open(&self) -> io::Result<(Appended, u32)> {
        let file = Appended::open(&self.folder.begun_file())?;
        let last = file.last_line()?;
        let last: Option<BegunAttempt> = last.and_then(|line| parse(&line));
        Ok((file, last.map_or(0, |last| last.process).saturating_add(1)))
    }
}
