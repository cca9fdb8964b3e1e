//! Reads a run folder back, finished or not. Says what is missing instead of guessing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path};

use agon_core::{Digest, Event, Picture};

use crate::blobs;
use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::lines;
use crate::stored::{Manifest, TrialLine};

/// Events of one attempt are at most as large as a segment can make them.
const MOST_EVENTS: u64 = 1 << 30;

/// A frozen working folder is kept only up to a size; one that unpacks to more is not ours.
const MOST_UNPACKED: u64 = 4 << 30;

/// A screen of the largest size that there may be, as noise.
const MOST_OF_A_PICTURE: u64 = 256 << 20;

#[derive(Debug)]
pub struct RunReader {
    folder: RunFolder,
    manifest: Manifest,
}

impl RunReader {
    /// Opens a run folder, or `runs/latest`-like links to one.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let folder = RunFolder::at(path);
        let manifest = folder.read_manifest()?;
        Ok(Self { folder, manifest })
    }

    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Every ended attempt in the order in which they ended. Returns whether a torn line was left
    /// out.
    pub fn for_each_trial(&self, mut each: impl FnMut(TrialLine)) -> Result<bool, StoreError> {
        let path = self.folder.trials_file();
        let mut broken = None;
        let torn = lines::for_each(&path, |at, line| match serde_json::from_slice(line) {
            Ok(trial) => each(trial),
            Err(error) => broken = Some(format!("byte {at}: {error}")),
        })
        .map_err(StoreError::io("can't read", &path))?;
        match broken {
            Some(message) => Err(StoreError::Broken { path, message }),
            None => Ok(torn),
        }
    }

    pub fn trials(&self) -> Result<Vec<TrialLine>, StoreError> {
        let mut trials = Vec::new();
        self.for_each_trial(|trial| trials.push(trial))?;
        Ok(trials)
    }

    /// The events of an attempt. Events of kinds that this version does not know are left out.
    pub fn events(&self, trial: &TrialLine) -> Result<Vec<Event>, StoreError> {
        let relative = Path::new(&trial.events.file);
        let path = self.folder.path().join(relative);
        let inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !inside || trial.events.bytes > MOST_EVENTS {
            let message = format!(
                "{trial_file} is no place for events",
                trial_file = trial.events.file
            );
            return Err(StoreError::Broken {
                path: self.folder.trials_file(),
                message,
            });
        }
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(trial.events.at))?;
            let mut bytes = Vec::new();
            file.take(trial.events.bytes).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(StoreError::io("can't read", &path))?;
        let broken = |message: String| StoreError::Broken {
            path: path.clone(),
            message,
        };
        if (bytes.len() as u64) < trial.events.bytes {
            return Err(broken("events are missing at its end".to_owned()));
        }
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let mut events = Vec::new();
        for line in lines {
            match serde_json::from_slice(line) {
                Ok(event) => events.push(event),
                Err(_) if is_unknown(line) => {}
                Err(error) => return Err(broken(format!("an event can't be read: {error}"))),
            }
        }
        Ok(events)
    }

    /// The bytes of a picture, which still are what was recorded.
    pub fn picture(&self, picture: &Picture) -> Result<Picture, StoreError> {
        let path = self.folder.blob(&picture.blob);
        let read = || -> io::Result<Picture> {
            if picture.bytes > MOST_OF_A_PICTURE {
                return Err(io::Error::other("it is larger than any picture of ours"));
            }
            let mut data = Vec::new();
            // One more than there should be shows that there are too many.
            let most = picture.bytes.saturating_add(1);
            File::open(&path)?.take(most).read_to_end(&mut data)?;
            let found = Picture::new(picture.format, data);
            if found != *picture {
                return Err(io::Error::other(blobs::CHANGED));
            }
            Ok(found)
        };
        read().map_err(StoreError::io("can't read", &path))
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

/// An event of a kind that a later version knows and this one does not.
fn is_unknown(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Peek<'a> {
        #[serde(borrow)]
        kind: std::borrow::Cow<'a, str>,
    }
    serde_json::from_slice::<Peek<'_>>(line)
        .is_ok_and(|peek| !agon_core::EventBody::KINDS.contains(&peek.kind.as_ref()))
}
