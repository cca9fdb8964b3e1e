//! Which attempts are being played: `running.jsonl` of the run folder. Begun anew by every process that
//! writes to the folder; an attempt stands in it from the moment that its events are written as they happen.
//! It has ended when its line stands in `trials.jsonl`. Nothing counts by this file.

use std::io;
use std::sync::{Mutex, PoisonError};

use agon_core::TaskId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::plain_file::write_plain;
use crate::shared_lines::{self, Last};
use crate::writer::Appended;

/// Attempts that are given at once: the last ones.
const MOST: usize = 100_000;

/// One line of `running.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunningAttempt {
    pub task: TaskId,
    pub epoch: u32,
    pub attempt: u32,
    /// When the attempt began.
    pub began: Timestamp,
}

/// Every attempt from a place in the file on, and the place after the last whole line. Where the file was
/// begun anew since that place was returned, all of it: to be sure of that, look at least once a second.
pub fn running(folder: &RunFolder, from: u64) -> Result<(Vec<RunningAttempt>, u64), StoreError> {
    let path = folder.running_file();
    let mut found = Last::of(MOST);
    let end = shared_lines::each_from(&path, from, |line| {
        if let Some(Ok(attempt)) = line.map(serde_json::from_slice) {
            found.add(attempt);
        }
    });
    let end = end.map_err(StoreError::io("can't read", &path))?;
    Ok((found.into_vec(), end))
}

/// The file as the process sees it that writes to the folder.
#[derive(Debug)]
pub(crate) struct RunningList {
    folder: RunFolder,
    /// Made when the first attempt comes.
    file: Mutex<Option<Appended>>,
}

impl RunningList {
    /// Empties what an earlier process left.
    pub(crate) fn begin(folder: &RunFolder) -> io::Result<Self> {
        let list = Self {
            folder: folder.clone(),
            file: Mutex::default(),
        };
        match write_plain(&folder.running_file()) {
            Ok(file) => file.set_len(0)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(list)
    }

    pub(crate) fn add(&self, attempt: &RunningAttempt) -> io::Result<()> {
        let mut line = serde_json::to_vec(attempt)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(Appended::open(&self.folder.running_file())?),
        };
        file.append(&line).map(drop)
    }
}
