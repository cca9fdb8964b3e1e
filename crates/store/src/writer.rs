//! Appends to a run folder from all workers: trial lines, shared segments of events, blobs. What a
//! call has returned is written (write(2) done) and survives the death of this process; disk sync
//! follows, grouped.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::Digest;
use agon_core::screen::Picture;

use crate::begun::BegunList;
use crate::blobs::{self, Stored};
use crate::chain::{self, Link};
use crate::error::StoreError;
use crate::folder::{RunFolder, remove_unfinished};
use crate::lines;
use crate::place::{Place, Play};
use crate::plain_file::write_plain;
use crate::running::{RunningAttempt, RunningList};
use crate::stored::{EventsAt, FORMAT, TrialLine};
use crate::sync::Syncer;
use crate::young::Young;

/// A segment is closed when it has grown to this.
const SEGMENT: u64 = 64 << 20;

/// How a final line says so. The blank leaves room for `false`, so that the word can be taken back in
/// place when the trial is played or graded again.
pub(crate) const FINAL: &[u8] = b"\"final\":true ";
pub(crate) const PADDED_TRUE: &[u8] = b"true ";
pub(crate) const FALSE: &[u8] = b"false";

/// First line of every file of events.
pub(crate) fn events_header() -> String {
    format!("{{\"format\":{FORMAT}}}\n")
}

#[derive(Debug, Clone)]
pub struct RunWriter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: RunFolder,
    trials: Mutex<TrialFile>,
    /// The same file, for taking the word `final` back: writes at a place, which appending can't.
    marks: Arc<File>,
    segment: Mutex<Segments>,
    young: Young,
    running: Arc<RunningList>,
    begun: BegunList,
    sync: Arc<Syncer>,
}

/// `trials.jsonl`, and the digest of its last line.
#[derive(Debug)]
struct TrialFile {
    file: Appended,
    last: Option<Digest>,
}

impl TrialFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = Appended::open(path)?;
        let last = file.last_line()?;
        let last = last.as_deref().and_then(Link::of);
        Ok(Self {
            last: last.map(|link| link.digest),
            file,
        })
    }
}

/// A file that only grows, with its length as far as we wrote it.
#[derive(Debug)]
pub(crate) struct Appended {
    file: Arc<File>,
    length: u64,
    /// A torn last line was cut off when the file was opened.
    torn: bool,
}

impl Appended {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (file, length, torn) = lines::open_append(path)?;
        Ok(Self {
            file: Arc::new(file),
            length,
            torn,
        })
    }

    /// A file that must not be there yet.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().append(true).create_new(true).open(path)?;
        Ok(Self {
            file: Arc::new(file),
            length: 0,
            torn: false,
        })
    }

    /// Writes whole lines; after a failure (disk full) the half-written rest is cut off again, so
    /// that the file stays readable. Returns where they begin.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.length;
        if let Err(error) = self.file.as_ref().write_all(bytes) {
            self.file.set_len(at).ok();
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(at)
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The last line, without its break.
    pub(crate) fn last_line(&self) -> io::Result<Option<Vec<u8>>> {
        let Some(end) = self.length.checked_sub(1) else {
            return Ok(None);
        };
        let from = lines::end_of_last_line(&self.file, end)?;
        let mut line = vec![0; (end - from) as usize];
        self.file.read_exact_at(&mut line, from)?;
        Ok(Some(line))
    }
}

#[derive(Debug, Default)]
struct Segments {
    number: u32,
    open: Option<(String, Appended)>,
}

impl RunWriter {
    /// Opens for appending; what an earlier process left unfinished, a torn last line included, is
    /// removed.
    pub fn open(folder: &RunFolder) -> Result<Self, StoreError> {
        for place in [folder.path(), &folder.blobs()] {
            remove_unfinished(place).map_err(StoreError::io("can't tidy", place))?;
        }
        let path = folder.trials_file();
        let trials = TrialFile::open(&path).map_err(StoreError::io("can't append to", &path))?;
        let marks = write_plain(&path);
        let marks = Arc::new(marks.map_err(StoreError::io("can't write to", &path))?);
        let sync = Syncer::start().map_err(StoreError::io("can't start syncing", &path))?;
        let young = Young::start().map_err(StoreError::io("can't start watching", &path))?;
        let path = folder.running_file();
        let running = RunningList::begin(folder).map_err(StoreError::io("can't empty", &path))?;
        let segment = Mutex::default();
        Ok(Self {
            shared: Arc::new(Shared {
                folder: folder.clone(),
                trials: Mutex::new(trials),
                marks,
                segment,
                young,
                running: Arc::new(running),
                begun: BegunList::of(folder),
                sync: Arc::new(sync),
            }),
        })
    }

    /// A line of an earlier process was torn and is gone: the attempt never counted.
    pub fn cut_torn_line(&self) -> bool {
        self.shared
            .trials
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .file
            .torn
    }

    pub fn folder(&self) -> &RunFolder {
        &self.shared.folder
    }

    /// Where the events of an attempt go, whose own folder is `own` if it needs one. One that is played is
    /// begun by this.
    pub(crate) fn place(&self, attempt: RunningAttempt, own: PathBuf, play: Play) -> Arc<Place> {
        let Shared {
            sync,
            running,
            young,
            begun,
            ..
        } = &*self.shared;
        let begins = match play {
            Play::Now => begun.add(&attempt, sync),
            Play::Before => Ok(()),
        };
        let running = (play == Play::Now).then(|| Arc::clone(running));
        let place = Place::new(attempt, own, Arc::clone(sync), running, begins);
        let place = Arc::new(place);
        young.watch(&place);
        place
    }

    /// The attempt counts once this has returned.
    pub fn append_trial(&self, line: &TrialLine) -> io::Result<()> {
        // One that was read from a record has its place there.
        let apart = line.chain.map(|_| TrialLine {
            chain: None,
            ..line.clone()
        });
        let mut bytes = serde_json::to_vec(apart.as_ref().unwrap_or(line))?;
        let tight = FINAL.trim_ascii_end();
        if let Some(at) = bytes.windows(tight.len()).position(|part| part == tight) {
            bytes.insert(at + tight.len(), b' ');
        }
        let mut trials = self
            .shared
            .trials
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let digest = chain::tie(&mut bytes, trials.last);
        bytes.push(b'\n');
        trials.file.append(&bytes)?;
        trials.last = Some(digest);
        self.shared.sync.soon(trials.file.file())
    }

    /// Takes the word `final` from the line whose value stands at `at`: another one has replaced it.
    /// A process killed between the two leaves both; the next one finds that and takes it back.
    pub fn withdraw(&self, at: u64) -> io::Result<()> {
        let file = &self.shared.marks;
        let mut value = [0; PADDED_TRUE.len()];
        file.read_exact_at(&mut value, at)?;
        if value != PADDED_TRUE {
            return Err(io::Error::other(format!(
                "byte {at} of trials.jsonl is no final mark"
            )));
        }
        // The line that takes its place first: a power cut must not leave the trial without one.
        file.sync_data()?;
        file.write_all_at(FALSE, at)?;
        self.shared.sync.soon(file)
    }

    /// Everything written so far is on disk when this returns.
    pub fn flush(&self) -> io::Result<()> {
        self.shared.sync.flush()
    }

    /// Appends a small trial's events to the current segment.
    pub(crate) fn append_segment(&self, events: &[u8]) -> io::Result<EventsAt> {
        let mut segments = self
            .shared
            .segment
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Shared { folder, sync, .. } = &*self.shared;
        let mut append = || {
            let (file, open) = segments.current(folder, sync)?;
            let at = open.append(events)?;
            sync.soon(open.file())?;
            Ok(EventsAt {
                file,
                at,
                bytes: events.len() as u64,
                verdict: None,
            })
        };
        sync.trouble.noted(append())
    }

    /// Where the events of an attempt are that has none.
    pub fn no_events(&self) -> io::Result<EventsAt> {
        self.append_segment(b"")
    }

    /// The first write to the folder that failed, a full disk say: going on would lose what comes.
    pub fn trouble(&self) -> Option<io::Error> {
        self.shared.sync.trouble.first()
    }

    /// Keeps a picture, unless it is there already, under the digest of its bytes.
    pub fn keep_picture(&self, picture: &Picture) -> io::Result<()> {
        let data = picture.data().ok_or_else(|| {
            io::Error::other("a picture that was read from a record has no bytes to keep")
        })?;
        self.keep_plain(&picture.blob, data)
    }

    /// Keeps bytes as they are under `digest`, which is their own.
    pub(crate) fn keep_plain(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let Shared { folder, sync, .. } = &*self.shared;
        sync.trouble
            .noted(blobs::put_plain(folder, sync, digest, bytes))
    }

    /// Keeps content of at most `cap` bytes as a compressed blob.
    pub fn keep(&self, content: &mut dyn Read, cap: u64) -> io::Result<Stored> {
        let Shared { folder, sync, .. } = &*self.shared;
        sync.trouble
            .noted(blobs::put_compressed(folder, sync, content, cap))
    }
}

impl Segments {
    /// The segment to append to; each process begins one of its own, so that two runs of the same
    /// folder never write to the same file.
    fn current(
        &mut self,
        folder: &RunFolder,
        sync: &Syncer,
    ) -> io::Result<(String, &mut Appended)> {
        if self
            .open
            .as_ref()
            .is_none_or(|(_, open)| open.length >= SEGMENT)
        {
            let segments = folder.segments();
            fs::create_dir_all(&segments)?;
            let (name, open) = loop {
                self.number += 1;
                let name = format!("{:06}.jsonl", self.number);
                match Appended::create(&segments.join(&name)) {
                    Ok(open) => break (name, open),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                }
            };
            sync.soon(&Arc::new(File::open(&segments)?))?;
            let (_, open) = self.open.insert((format!("trials/segments/{name}"), open));
            open.append(events_header().as_bytes())?;
        }
        match &mut self.open {
            Some((name, open)) => Ok((name.clone(), open)),
            None => Err(io::Error::other("no segment is open")),
        }
    }
}
