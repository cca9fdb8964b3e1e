//! The record of one attempt in a run folder: finds it, keeps its outline, reads single events of it. What a
//! line of the run says about where it is, is not believed further than the run folder reaches.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use agon_core::TaskId;
use agon_store::{RunFolder, TrialLine, open_plain, stored};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bounded::Room;
use super::kept::{self, Kept, Place};
use super::outline::Spot;
use super::peek::Header;
use crate::error::ViewerError;
use crate::library::lock;
use crate::visible::plain;

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
                plain(&events.file)
            )));
        };
        let path = folder.path().join(relative);
        let file = open(folder, relative).map_err(ViewerError::io("can't read", &path))?;
        let (_, newer) = header(&file).map_err(ViewerError::io("can't read", &path))?;
        let place = Place {
            path,
            at: events.at,
            end: Some(end),
        };
        Self::at(place, file, newer)
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
        let relative = Path::new(&trial).join("events.jsonl");
        let path = folder.path().join(&relative);
        let file = match open(folder, &relative) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ViewerError::io("can't read", &path)(error)),
        };
        let (at, newer) = header(&file).map_err(ViewerError::io("can't read", &path))?;
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

    /// The line of an event.
    fn line(&self, spot: Spot) -> Result<Vec<u8>, ViewerError> {
        let mut line = vec![0; spot.bytes as usize];
        let read = self.file.read_exact_at(&mut line, spot.at);
        read.map_err(ViewerError::io("can't read", &self.path))?;
        // Bytes that are no text were passed over so far.
        Ok(match String::from_utf8(line) {
            Ok(text) => text.into_bytes(),
            Err(odd) => String::from_utf8_lossy(odd.as_bytes()).into_owned().into(),
        })
    }

    fn odd(&self, spot: Spot, error: &serde_json::Error) -> ViewerError {
        ViewerError::Internal(format!(
            "event {} of {} can't be read: {error}",
            spot.seq,
            self.path.display()
        ))
    }

    /// As much of an event as there is room for.
    pub(super) fn event(&self, spot: Spot, room: &mut Room) -> Result<Value, ViewerError> {
        let read = room.read(&self.line(spot)?);
        read.map_err(|error| self.odd(spot, &error))
    }

    /// Fields of an event by its place in the outline. `None`: it has none such.
    pub(super) fn part<T: DeserializeOwned>(&self, event: Option<u32>) -> Option<T> {
        let spot = self.spot(event?)?;
        serde_json::from_slice(&self.line(spot).ok()?).ok()
    }

    pub(super) fn spot(&self, event: u32) -> Option<Spot> {
        self.kept().outline.events.get(event as usize).copied()
    }

    /// Calls `each` with the line of every event.
    pub(super) fn each(&self, mut each: impl FnMut(&[u8])) -> Result<(), ViewerError> {
        let mut block = Vec::new();
        let mut done = 0;
        loop {
            let now: Vec<Spot> = {
                let kept = self.kept();
                let rest = kept.outline.events.get(done..).unwrap_or_default();
                let Some(first) = rest.first() else {
                    return Ok(());
                };
                let fits = |spot: &&Spot| spot.at + u64::from(spot.bytes) - first.at <= AT_ONCE;
                let fitting = rest.iter().take_while(fits).count().max(1);
                rest.iter().take(fitting).copied().collect()
            };
            let (Some(first), Some(last)) = (now.first(), now.last()) else {
                return Ok(());
            };
            let length = last.at + u64::from(last.bytes) - first.at;
            block.resize(usize::try_from(length).unwrap_or(0), 0);
            let read = self.file.read_exact_at(&mut block, first.at);
            read.map_err(ViewerError::io("can't read", &self.path))?;
            for spot in &now {
                let from = usize::try_from(spot.at - first.at).unwrap_or(0);
                let line = block.get(from..from + spot.bytes as usize);
                each(line.unwrap_or_default());
            }
            done += now.len();
        }
    }

    /// One event as it is recorded.
    pub(super) fn by_seq(&self, seq: u64) -> Result<Box<RawValue>, ViewerError> {
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
        let spot = spot.ok_or_else(none)?;
        serde_json::from_slice(&self.line(spot)?).map_err(|error| self.odd(spot, &error))
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
            // Of a later format nobody knows why it is so.
            let why = match self.newer {
                Some(_) => "The end of the record is not where this version looks for it.",
                None => {
                    "The end of the record is missing: it was cut off in the middle of an event."
                }
            };
            problems.push(why.to_owned());
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

/// Only a file, and only one that is really there: a pipe in its place must not keep anybody waiting, and no
/// link, of a folder or of a file, leads anywhere.
fn open(folder: &RunFolder, relative: &Path) -> io::Result<File> {
    let mut path = folder.path().to_owned();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        path.push(part);
        if fs::symlink_metadata(&path)?.is_symlink() {
            return Err(io::Error::other("a link stands there"));
        }
    }
    open_plain(&folder.path().join(relative))
}

/// Where the first event is, and the format of the file if a later version wrote it.
fn header(file: &File) -> io::Result<(u64, Option<u64>)> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(file.take(LONGEST_HEADER));
    reader.read_until(b'\n', &mut line)?;
    let header: Option<Header> = match line.ends_with(b"\n") {
        true => serde_json::from_slice(&line).ok(),
        false => None,
    };
    Ok(match header {
        Some(Header { format }) => {
            let newer = (format > u64::from(stored::FORMAT)).then_some(format);
            (line.len() as u64, newer)
        }
        None => (0, None),
    })
}
