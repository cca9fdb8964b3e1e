//! Outlines of records that were looked at lately, so that the next step of a long trial costs one event and
//! not the whole record. Bounded by memory; a record that grew is gone on with, one that is another is read
//! anew.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agon_core::Digest;
use agon_store::RunFolder;

use super::outline::Outline;
use crate::library::lock;

/// Memory for all outlines together; the one that is being looked at may be larger.
const MOST_KEPT: usize = 64 << 20;

/// A line longer than this is none that could be shown.
const LONGEST_LINE: u64 = 8 << 20;

/// Bytes at the beginning of a record by which it is known again: time of day is among them.
const KNOWN_BY: usize = 200;

/// Pictures that are looked for: enough for any trial that a person looks through.
const MOST_PICTURES: usize = 20_000;

/// Where a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// First byte.
    pub(super) at: u64,
    /// None while it is being written, or if it never counted.
    pub(super) end: Option<u64>,
}

/// The outline of a record as far as it was taken in.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) outline: Outline,
    /// The byte after the last line that was taken in.
    pub(super) taken: u64,
    /// It ends in the middle of a line, or before its end.
    pub(super) torn: bool,
    known_by: Vec<u8>,
    file: (u64, u64),
    pictures: HashSet<Digest>,
    /// Screens whose pictures were looked for.
    looked_for: usize,
    /// Those that were not there; they may come back.
    missing: Vec<Digest>,
}

impl Kept {
    fn new(file: (u64, u64), known_by: Vec<u8>, at: u64) -> Self {
        Self {
            outline: Outline::new(),
            taken: at,
            torn: false,
            known_by,
            file,
            pictures: HashSet::new(),
            looked_for: 0,
            missing: Vec::new(),
        }
    }

    /// Takes in what was written since.
    fn go_on(&mut self, file: &File, place: &Place, length: u64) -> io::Result<()> {
        let end = place.end.unwrap_or(length).min(length);
        if self.taken < end {
            self.take_in(file, end)?;
        }
        self.torn = place.end.is_some_and(|end| self.taken < end);
        Ok(())
    }

    fn take_in(&mut self, mut file: &File, end: u64) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.taken))?;
        let rest = file.take(end - self.taken);
        let mut reader = BufReader::with_capacity(1 << 18, rest);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)? as u64;
            if line.pop() == Some(b'\n') {
                self.outline.take(self.taken, &line);
                self.taken += read;
            } else if read < LONGEST_LINE {
                return Ok(());
            } else {
                let more = pass_over(&mut reader)?;
                self.outline.cannot_read(self.taken);
                self.taken += read + more;
            }
        }
    }

    /// How many of its pictures are not there, and of how many.
    pub(super) fn missing_pictures(&mut self, folder: &RunFolder) -> (u64, u64) {
        let is_gone = |blob: &Digest| !folder.blob(blob).exists();
        self.missing.retain(is_gone);
        let sights = self.outline.sights.get(self.looked_for..);
        for sight in sights.unwrap_or_default() {
            if self.pictures.len() >= MOST_PICTURES {
                break;
            }
            if self.pictures.insert(sight.blob) && is_gone(&sight.blob) {
                self.missing.push(sight.blob);
            }
        }
        self.looked_for = self.outline.sights.len();
        (self.missing.len() as u64, self.pictures.len() as u64)
    }

    fn weight(&self) -> usize {
        self.outline.weight() + self.pictures.capacity() * (size_of::<Digest>() + 1)
    }
}

/// To the end of the line.
fn pass_over(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut passed = 0;
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(passed);
        }
        let newline = block.iter().position(|byte| *byte == b'\n');
        let used = newline.map_or(block.len(), |at| at + 1);
        reader.consume(used);
        passed += used as u64;
        if newline.is_some() {
            return Ok(passed);
        }
    }
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    at: u64,
    kept: Arc<Mutex<Kept>>,
    weight: usize,
}

/// The one that was used last stands last.
static SHELF: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// The outline of a record as it is now.
pub(super) fn outline(place: &Place, file: &File) -> io::Result<Arc<Mutex<Kept>>> {
    let about = file.metadata()?;
    let identity = (about.dev(), about.ino());
    let fresh = || -> io::Result<Kept> {
        let known_by = read_some(file, place.at, KNOWN_BY)?;
        Ok(Kept::new(identity, known_by, place.at))
    };
    let found = lock(&SHELF)
        .iter()
        .find(|entry| entry.at == place.at && entry.path == place.path)
        .map(|entry| Arc::clone(&entry.kept));
    let kept = match found {
        Some(kept) => kept,
        None => Arc::new(Mutex::new(fresh()?)),
    };
    let weight = {
        let mut kept = lock(&kept);
        let known_by = read_some(file, place.at, kept.known_by.len())?;
        let beyond = place.end.is_some_and(|end| end < kept.taken);
        if kept.file != identity || kept.known_by != known_by || about.len() < kept.taken || beyond
        {
            *kept = fresh()?;
        }
        // A record that has just begun is not known by much.
        if kept.known_by.len() < KNOWN_BY {
            kept.known_by = read_some(file, place.at, KNOWN_BY)?;
        }
        kept.go_on(file, place, about.len())?;
        kept.weight()
    };
    put(place, &kept, weight);
    Ok(kept)
}

fn put(place: &Place, kept: &Arc<Mutex<Kept>>, weight: usize) {
    let mut shelf = lock(&SHELF);
    shelf.retain(|entry| entry.at != place.at || entry.path != place.path);
    shelf.push(Entry {
        path: place.path.clone(),
        at: place.at,
        kept: Arc::clone(kept),
        weight,
    });
    let mut sum: usize = shelf.iter().map(|entry| entry.weight).sum();
    while sum > MOST_KEPT && shelf.len() > 1 {
        sum -= shelf.remove(0).weight;
    }
}

/// Up to `most` bytes; fewer where the file ends.
fn read_some(file: &File, at: u64, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; most];
    let mut filled = 0;
    while filled < most {
        let rest = bytes.get_mut(filled..).unwrap_or_default();
        match file.read_at(rest, at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
