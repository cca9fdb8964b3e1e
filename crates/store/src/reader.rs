//! Reads a run folder back, finished or not. Says what is missing instead of guessing.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use agon_core::{Digest, Event, EventBody, Picture, Verdict};

use crate::audit::{self, Audit};
use crate::blobs;
use crate::error::StoreError;
use crate::finals::Finals;
use crate::folder::RunFolder;
use crate::lines;
use crate::plain_file::open_plain;
use crate::stored::{Manifest, TrialLine};

/// Events of one attempt are at most as large as a segment can make them.
const MOST_EVENTS: u64 = 1 << 30;
/// Memory that is asked for before anything was read.
const AT_ONCE: u64 = 1 << 20;

/// A frozen working folder is kept only up to a size; one that unpacks to more is not ours.
const MOST_UNPACKED: u64 = 4 << 30;

#[derive(Debug)]
pub struct RunReader {
    folder: RunFolder,
    manifest: Manifest,
    /// Every line is compared with its events, however many there are.
    verify: bool,
    /// The folder as it was when it was audited: everything that is read afterwards is of that moment.
    audited: OnceLock<(Finals, Audit)>,
}

impl RunReader {
    /// Opens a run folder, or `runs/latest`-like links to one.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let folder = RunFolder::at(path);
        let manifest = folder.read_manifest()?;
        Ok(Self::of(folder, manifest))
    }

    /// The same of a run that a newer agon wrote, as far as this one knows it.
    pub fn open_newer(path: &Path) -> Result<Self, StoreError> {
        let folder = RunFolder::at(path);
        let manifest = folder.read_newer_manifest()?;
        Ok(Self::of(folder, manifest))
    }

    fn of(folder: RunFolder, manifest: Manifest) -> Self {
        Self {
            folder,
            manifest,
            verify: false,
            audited: OnceLock::new(),
        }
    }

    /// An audit compares every line with its events, of large runs as well.
    pub fn verify(self) -> Self {
        Self {
            verify: true,
            ..self
        }
    }

    /// Whether the folder agrees with itself. Looked at once: lines that are written later are not seen by this
    /// reader any more.
    pub fn audit(&self) -> Result<&Audit, StoreError> {
        if let Some((_, audit)) = self.audited.get() {
            return Ok(audit);
        }
        let found = audit::audit(&self.folder, &self.manifest, self.verify)?;
        Ok(&self.audited.get_or_init(|| found).1)
    }

    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Every ended attempt in the order in which they ended, at most one of each trial final: the last one
    /// that says so and is no draw after the first verdict. Returns whether a torn line was left out.
    pub fn for_each_trial(&self, mut each: impl FnMut(TrialLine)) -> Result<bool, StoreError> {
        self.for_each_trial_while(|trial| {
            each(trial);
            ControlFlow::Continue(())
        })
    }

    /// The same until `each` has had enough; what follows is not read.
    pub fn for_each_trial_while(
        &self,
        mut each: impl FnMut(TrialLine) -> ControlFlow<()>,
    ) -> Result<bool, StoreError> {
        let path = self.folder.trials_file();
        let read;
        let finals = match self.audited.get() {
            Some((finals, _)) => finals,
            None => {
                read = Finals::read(&path).map_err(StoreError::io("can't read", &path))?;
                &read
            }
        };
        let mut broken = None;
        let read = lines::for_each_while(&path, |at, line| {
            // What has come since is not looked at: it may replace what was.
            if at >= finals.end {
                return ControlFlow::Break(());
            }
            match serde_json::from_slice(line) {
                Ok(mut trial @ TrialLine { .. }) => {
                    trial.is_final = finals.count(at, trial.is_final);
                    each(trial)
                }
                Err(error) => {
                    broken = Some(format!("byte {at}: {error}"));
                    ControlFlow::Continue(())
                }
            }
        });
        read.map_err(StoreError::io("can't read", &path))?;
        match broken {
            Some(message) => Err(StoreError::Broken { path, message }),
            None => Ok(finals.torn),
        }
    }

    pub fn trials(&self) -> Result<Vec<TrialLine>, StoreError> {
        let mut trials = Vec::new();
        self.for_each_trial(|trial| trials.push(trial))?;
        Ok(trials)
    }

    /// The events of an attempt. Events of kinds that this version does not know are left out.
    pub fn events(&self, trial: &TrialLine) -> Result<Vec<Event>, StoreError> {
        let bytes = self.events_text(trial)?;
        let mut events = Vec::new();
        for line in lines_of(&bytes) {
            match serde_json::from_slice(line) {
                Ok(event) => events.push(event),
                Err(_) if is_unknown(line) => {}
                Err(error) => return Err(self.unreadable(trial, &error)),
            }
        }
        Ok(events)
    }

    /// The verdict of an attempt, read without its other events.
    pub fn verdict(&self, trial: &TrialLine) -> Result<Option<Verdict>, StoreError> {
        let bytes = self.events_text(trial)?;
        let Some(line) = lines_of(&bytes).rev().find(|line| kind_is(line, "verdict")) else {
            return Ok(None);
        };
        match serde_json::from_slice::<Event>(line) {
            Ok(event) => Ok(match event.body {
                EventBody::Verdict(verdict) => Some(verdict),
                _ => None,
            }),
            Err(error) => Err(self.unreadable(trial, &error)),
        }
    }

    /// The notes of an attempt, read without its other events.
    pub fn notes(&self, trial: &TrialLine) -> Result<Vec<String>, StoreError> {
        let bytes = self.events_text(trial)?;
        let mut notes = Vec::new();
        for line in lines_of(&bytes).filter(|line| kind_is(line, "note")) {
            match serde_json::from_slice::<Event>(line) {
                Ok(event) => notes.extend(match event.body {
                    EventBody::Note(note) => Some(note),
                    _ => None,
                }),
                Err(error) => return Err(self.unreadable(trial, &error)),
            }
        }
        Ok(notes)
    }

    fn unreadable(&self, trial: &TrialLine, error: &serde_json::Error) -> StoreError {
        StoreError::Broken {
            path: self.folder.path().join(&trial.events.file),
            message: format!("an event can't be read: {error}"),
        }
    }

    fn events_text(&self, trial: &TrialLine) -> Result<Vec<u8>, StoreError> {
        let path = events_file(&self.folder, trial).map_err(|message| StoreError::Broken {
            path: self.folder.trials_file(),
            message,
        })?;
        let read = || -> io::Result<Vec<u8>> {
            let mut file = open_plain(&path)?;
            file.seek(SeekFrom::Start(trial.events.at))?;
            // In one go, unless the line of the trial promises more than there may be.
            let size = trial.events.bytes.min(AT_ONCE) as usize;
            let mut bytes = Vec::with_capacity(size);
            file.take(trial.events.bytes).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(StoreError::io("can't read", &path))?;
        if (bytes.len() as u64) < trial.events.bytes {
            let message = "events are missing at its end".to_owned();
            return Err(StoreError::Broken { path, message });
        }
        Ok(bytes)
    }

    /// The bytes of a picture, which still are what was recorded.
    pub fn picture(&self, picture: &Picture) -> Result<Picture, StoreError> {
        self.folder.picture(picture)
    }

    /// Unpacks a blob (the frozen working folder) into a temporary file.
    pub fn unpack_blob(&self, digest: &Digest) -> Result<tempfile::TempPath, StoreError> {
        let path = self.folder.blob(digest);
        let unpack = || -> io::Result<tempfile::TempPath> {
            let mut file = tempfile::NamedTempFile::new()?;
            blobs::verify(&self.folder, digest)?;
            let content = blobs::open_compressed(&self.folder, digest)?;
            if io::copy(&mut content.take(MOST_UNPACKED + 1), &mut file)? > MOST_UNPACKED {
                return Err(io::Error::other(
                    "it unpacks to more than any frozen folder holds",
                ));
            }
            Ok(file.into_temp_path())
        };
        unpack().map_err(StoreError::io("can't unpack", &path))
    }
}

/// Where the events of a line are, if there may be any.
pub(crate) fn events_file(folder: &RunFolder, trial: &TrialLine) -> Result<PathBuf, String> {
    let relative = Path::new(&trial.events.file);
    let mut parts = relative.components();
    let inside = parts.all(|part| matches!(part, Component::Normal(_)));
    if !inside || trial.events.bytes > MOST_EVENTS {
        return Err(format!("{} is no place for events", trial.events.file));
    }
    Ok(folder.path().join(relative))
}

pub(crate) fn lines_of(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

#[derive(serde::Deserialize)]
struct LineHead<'a> {
    #[serde(borrow)]
    kind: std::borrow::Cow<'a, str>,
}

/// An event of a kind that a later version knows and this one does not.
fn is_unknown(line: &[u8]) -> bool {
    serde_json::from_slice::<LineHead<'_>>(line)
        .is_ok_and(|peek| !EventBody::KINDS.contains(&peek.kind.as_ref()))
}

pub(crate) fn kind_is(line: &[u8], kind: &str) -> bool {
    serde_json::from_slice::<LineHead<'_>>(line).is_ok_and(|peek| peek.kind == kind)
}
