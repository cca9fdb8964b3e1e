//! The record of one attempt in a run folder: finds it, keeps its outline, reads single events of it. What a
//! line of the run says about where it is, is not believed further than the run folder reaches.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use agon_core::TaskId;
use agon_store::{RunFolder, TrialLine, stored};
use rustix::fs::OFlags;
use serde_json::Value;

use super::kept::{self, Kept, Place};
use super::outline::Spot;
use super::peek::Header;
use crate::error::ViewerError;
use crate::library::lock;

/// As the store says: events of one attempt are at most that large.
const MOST_EVENTS: u64 = 1 << 30;

/// The first line of a file of events is short.
const LONGEST_HEADER: u64 = 4 << 10;

/// Bytes of events that are read in one go.
const AT_ONCE: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    file: File,
    kept: Arc<Mutex<Kept>>,
    /// Written by a later version.
    newer: Option<u64>,
}

impl Record {
    /// The record of an attempt that ended.
    pub(super) fn of_line(folder: &RunFolder, line: &TrialLine) -> Result<Self, ViewerError> {
        let events = &line.events;
        let relative = Path::new(&events.file);
        let inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let end = events.at.checked_add(events.bytes);
        let Some(end) = end.filter(|_| inside && events.bytes <= MOST_EVENTS) else {
            return Err(ViewerError::NotFound(format!(
                "{} is no place for events",
                agon_report::plain(&events.file)
            )));
        };
        let path = folder.path().join(relative);
        let file = open(&path).map_err(ViewerError::io("can't read", &path))?;
        let place = Place {
            path,
            at: events.at,
            end: Some(end),
        };
        Self::at(place, file, None)
    }

    /// The record of an attempt that is being played, or never came to its end. `None`: there is none, or
    /// none yet.
    pub(super) fn unended(
        folder: &RunFolder,
        task: &TaskId,
        epoch: u32,
        attempt: u32,
    ) -> Result<Option<Self>, ViewerError> {
        let trial = RunFolder::trial_folder(task, epoch, attempt);
        let path = folder.path().join(trial).join("events.jsonl");
        let file = match open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ViewerError::io("can't read", &path)(error)),
        };
        let (at, format) = header(&file).map_err(ViewerError::io("can't read", &path))?;
        let newer = format.filter(|format| *format > u64::from(stored::FORMAT));
        let place = Place {
            path,
            at,
            end: None,
        };
        Self::at(place, file, newer).map(Some)
    }

    fn at(place: Place, file: File, newer: Option<u64>) -> Result<Self, ViewerError> {
        let kept = kept::outline(&place, &file);
        let kept = kept.map_err(ViewerError::io("can't read", &place.path))?;
        Ok(Self {
            path: place.path,
            file,
            kept,
            newer,
        })
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    /// One event, whole.
    pub(super) fn event(&self, spot: Spot) -> Result<Value, ViewerError> {
        let mut line = vec![0; spot.bytes as usize];
        let failed = ViewerError::io("can't read", &self.path);
        let read = self.file.read_exact_at(&mut line, spot.at);
        read.map_err(failed)?;
        // Bytes that are no text were passed over so far.
        let read = serde_json::from_slice(&line)
            .or_else(|_| serde_json::from_str(&String::from_utf8_lossy(&line)));
        read.map_err(|error| {
            ViewerError::Internal(format!(
                "event {} of {} can't be read: {error}",
                spot.seq,
                self.path.display()
            ))
        })
    }

    /// An event by its place in the outline, if it is no longer than that.
    pub(super) fn nth(&self, event: u32, longest: usize) -> Option<Value> {
        let spot = self.kept().outline.events.get(event as usize).copied()?;
        let fits = spot.bytes as usize <= longest;
        fits.then(|| self.event(spot).ok()).flatten()
    }

    /// Calls `each` with the line of every event.
    pub(super) fn each(&self, mut each: impl FnMut(&[u8])) -> Result<(), ViewerError> {
        let spots = self.kept().outline.events.clone();
        let mut block = Vec::new();
        let mut rest = spots.as_slice();
        while let Some(first) = rest.first() {
            let end = |spot: &Spot| spot.at + u64::from(spot.bytes);
            let fits = |spot: &Spot| end(spot) - first.at <= AT_ONCE;
            let count = rest.partition_point(fits).max(1);
            let (now, later) = rest.split_at(count);
            let until = now.last().map_or(first.at, end);
            block.resize(usize::try_from(until - first.at).unwrap_or(0), 0);
            let read = self.file.read_exact_at(&mut block, first.at);
            read.map_err(ViewerError::io("can't read", &self.path))?;
            for spot in now {
                let from = usize::try_from(spot.at - first.at).unwrap_or(0);
                let line = block.get(from..from + spot.bytes as usize);
                each(line.unwrap_or_default());
            }
            rest = later;
        }
        Ok(())
    }

    pub(super) fn by_seq(&self, seq: u64) -> Result<Value, ViewerError> {
        let spot = {
            let kept = self.kept();
            let events = &kept.outline.events;
            // Numbers are without gaps, unless something is wrong with the record.
            let at = usize::try_from(seq).ok().and_then(|at| events.get(at));
            let at = at.filter(|spot| spot.seq == seq);
            at.or_else(|| events.iter().find(|spot| spot.seq == seq))
                .copied()
        };
        let none = || ViewerError::NotFound(format!("the record has no event {seq}"));
        self.event(spot.ok_or_else(none)?)
    }

    /// What is wrong with it.
    pub(super) fn problems(&self, folder: &RunFolder) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(newer) = self.newer {
            problems.push(format!(
                "The record is of format {newer}, which a later version of Agon reads better."
            ));
        }
        let mut kept = self.kept();
        if kept.torn {
            problems.push(
                "The end of the record is missing: it was cut off in the middle of an event."
                    .to_owned(),
            );
        }
        let outline = &kept.outline;
        if let Some(at) = outline.unread_at {
            let count = outline.unread;
            problems.push(format!(
                "Lines of the record that can't be read: {count}, the first at byte {at} of its file."
            ));
        }
        if outline.omitted > 0 {
            let omitted = outline.omitted;
            problems.push(format!(
                "The record is too long to be shown whole: {omitted} events at its end are left out."
            ));
        }
        let (missing, of) = kept.missing_pictures(folder);
        if missing > 0 {
            problems.push(format!("Pictures that are missing: {missing} of {of}."));
        }
        problems
    }
}

/// Only a file: a pipe in its place must not keep anybody waiting.
fn open(path: &Path) -> io::Result<File> {
    let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = File::options()
        .read(true)
        .custom_flags(nonblock)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

/// Where the first event is, and the format of the file.
fn header(file: &File) -> io::Result<(u64, Option<u64>)> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(file.take(LONGEST_HEADER));
    reader.read_until(b'\n', &mut line)?;
    let header: Option<Header> = match line.ends_with(b"\n") {
        true => serde_json::from_slice(&line).ok(),
        false => None,
    };
    Ok(match header {
        Some(header) => (line.len() as u64, Some(header.format)),
        None => (0, None),
    })
}
