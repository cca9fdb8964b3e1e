//! Where things are in a run folder, and who may write to it. The layout is public: see
//! `docs/run-folder.md`.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use agon_core::{Digest, Picture, TaskId};
use jiff::Timestamp;
use serde::Deserialize;
use tempfile::NamedTempFile;

use crate::blobs;
use crate::error::StoreError;
use crate::held::{self, Locks};
use crate::plain_file::{make_plain, open_plain, read_plain};
use crate::running::running;
use crate::stored::{FORMAT, Manifest};

/// A screen of the largest size that there may be, as noise.
const MOST_OF_A_PICTURE: u64 = 256 << 20;

/// The plan of a million tasks.
const MOST_OF_A_MANIFEST: u64 = 256 << 20;

/// How the digest of a manifest begins, and how the manifest ends.
const DIGEST: &[u8] = b",\n  \"digest\": \"";
const CLOSED: &[u8] = b"\n}";

/// Attempts whose records tell whether a run goes on, where nothing else does.
const LOOKED_AT: usize = 256;

/// What every manifest says, whatever its format.
#[derive(Deserialize)]
struct Written {
    format: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// Held while a process writes to the run folder; gone with the process, however it ends.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunFolder {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// A new folder `<root>/<time>-<suite>-<agent>`; a number is added if the name is taken.
    pub fn fresh(
        root: &Path,
        now: Timestamp,
        suite: &str,
        agent: &str,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(root).map_err(StoreError::io("can't create", root))?;
        let name = format!(
            "{}-{}-{}",
            now.strftime("%Y%m%d-%H%M%S"),
            slug(suite),
            slug(agent)
        );
        let mut path = root.join(&name);
        let mut count = 1;
        loop {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    count += 1;
                    path = root.join(format!("{name}-{count}"));
                }
                Err(error) => return Err(StoreError::io("can't create", &path)(error)),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run's name: that of its folder.
    pub fn name(&self) -> String {
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        real.file_name()
            .map_or_else(|| "run".to_owned(), |n| n.to_string_lossy().into_owned())
    }

    pub fn manifest_file(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// What people say about trials.
    pub fn reviews_file(&self) -> PathBuf {
        self.path.join("reviews.jsonl")
    }

    /// What operators ask of the run.
    pub fn control_file(&self) -> PathBuf {
        self.path.join("control.jsonl")
    }

    /// Which attempts are being played.
    pub fn running_file(&self) -> PathBuf {
        self.path.join("running.jsonl")
    }

    /// Which attempts were ever begun.
    pub fn begun_file(&self) -> PathBuf {
        self.path.join("begun.jsonl")
    }

    /// Whether a process writes to it. On a file system that other machines share, one that wrote within the
    /// last minute does.
    pub fn is_written(&self) -> bool {
        self.is_written_by(&Locks::now())
    }

    /// The same for many folders, by what the system said once.
    pub fn is_written_by(&self, locks: &Locks) -> bool {
        locks.hold(&self.lock_file(), || self.what_grows())
    }

    /// What changes while a run goes on. A model that thinks for a minute ends no trial meanwhile, but its
    /// agent's other trials may go on.
    fn what_grows(&self) -> Vec<PathBuf> {
        let (attempts, _) = running(self, 0).unwrap_or_default();
        let records = attempts.iter().rev().take(LOOKED_AT).map(|at| {
            let folder = Self::trial_folder(&at.task, at.epoch, at.attempt);
            self.path.join(folder).join("events.jsonl")
        });
        let files = [self.trials_file(), self.running_file()];
        files.into_iter().chain(records).collect()
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("run.lock")
    }

    pub fn trials_file(&self) -> PathBuf {
        self.path.join("trials.jsonl")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    pub fn segments(&self) -> PathBuf {
        self.path.join("trials").join("segments")
    }

    /// Relative to the run folder.
    pub fn trial_folder(task: &TaskId, epoch: u32, attempt: u32) -> PathBuf {
        Path::new("trials")
            .join(task.category())
            .join(task.id())
            .join(format!("{epoch}.{attempt}"))
    }

    pub fn blob(&self, digest: &Digest) -> PathBuf {
        let hex = digest.to_hex();
        self.blobs().join(&hex[..2]).join(&hex[2..])
    }

    /// The bytes of a picture, which still are what was recorded.
    pub fn picture(&self, picture: &Picture) -> Result<Picture, StoreError> {
        let path = self.blob(&picture.blob);
        let read = || -> io::Result<Picture> {
            if picture.bytes > MOST_OF_A_PICTURE {
                return Err(io::Error::other("it is larger than any picture of ours"));
            }
            let mut data = Vec::new();
            // One more than there should be shows that there are too many.
            let most = picture.bytes.saturating_add(1);
            open_plain(&path)?.take(most).read_to_end(&mut data)?;
            let found = Picture::new(picture.format, data);
            if found != *picture {
                return Err(io::Error::other(blobs::CHANGED));
            }
            Ok(found)
        };
        read().map_err(StoreError::io("can't read", &path))
    }

    pub fn has_manifest(&self) -> bool {
        self.manifest_file().exists()
    }

    /// Makes the folder if needed and takes it for this process. A folder that holds other things
    /// than a run is refused.
    pub fn lock(&self) -> Result<RunLock, StoreError> {
        let occupied = fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_some());
        let lock_file = self.lock_file();
        if occupied && !self.has_manifest() && !lock_file.exists() {
            return Err(StoreError::Occupied(self.path.clone()));
        }
        let unusable = |source| StoreError::Unusable {
            path: self.path.clone(),
            source,
        };
        fs::create_dir_all(&self.path).map_err(unusable)?;
        let file = make_plain(&lock_file).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {
                held::sign(&file).map_err(unusable)?;
                Ok(RunLock { _file: file })
            }
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked(self.path.clone())),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let path = self.manifest_file();
        let mut json = serde_json::to_vec_pretty(manifest).map_err(|error| StoreError::Broken {
            path: path.clone(),
            message: error.to_string(),
        })?;
        json.truncate(json.len().saturating_sub(CLOSED.len()));
        let digest = Digest::of(&json).to_hex();
        json.extend([DIGEST, digest.as_bytes(), b"\"", CLOSED].concat());
        write_whole(&path, &json)
    }

    /// Whether the text of the manifest is what was written; `None` where an older version wrote it.
    pub(crate) fn manifest_fits(&self) -> Result<Option<bool>, StoreError> {
        let path = self.manifest_file();
        let text = read_plain(&path, MOST_OF_A_MANIFEST);
        let text = text.map_err(StoreError::io("can't read", &path))?;
        let mut parts = text.windows(DIGEST.len());
        let Some(at) = parts.rposition(|part| part == DIGEST) else {
            return Ok(None);
        };
        let (before, digest) = (&text[..at], &text[at + DIGEST.len()..]);
        let expected = [Digest::of(before).to_hex().as_bytes(), b"\"", CLOSED].concat();
        Ok(Some(digest == expected))
    }

    pub fn read_manifest(&self) -> Result<Manifest, StoreError> {
        let manifest = self.read_newer_manifest()?;
        if manifest.format > FORMAT {
            return Err(StoreError::Newer {
                path: self.manifest_file(),
                found: manifest.format.into(),
            });
        }
        Ok(manifest)
    }

    /// What the fields say that are known here, whatever the format. Only for showing: what they mean may
    /// have changed.
    pub fn read_newer_manifest(&self) -> Result<Manifest, StoreError> {
        let path = self.manifest_file();
        let text = match read_plain(&path, MOST_OF_A_MANIFEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NotARun(self.path.clone()));
            }
            Err(error) => return Err(StoreError::io("can't read", &path)(error)),
        };
        let broken = |message: String| StoreError::Broken {
            path: path.clone(),
            message,
        };
        serde_json::from_slice(&text).map_err(|error| {
            // A newer one may say everything otherwise.
            match serde_json::from_slice(&text) {
                Ok(Written {
                    format: Some(found),
                }) if found > u64::from(FORMAT) => StoreError::Newer {
                    path: path.clone(),
                    found,
                },
                _ => broken(error.to_string()),
            }
        })
    }

    /// Points `latest` beside this folder to it. Only a convenience: failing to is no error.
    pub fn mark_latest(&self) {
        let (Some(root), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return;
        };
        let fresh = root.join(format!(".latest-{}", std::process::id()));
        if std::os::unix::fs::symlink(name, &fresh).is_ok()
            && fs::rename(&fresh, root.join("latest")).is_err()
        {
            fs::remove_file(&fresh).ok();
        }
    }
}

/// How files are called that are still being written, before they get their name.
const UNFINISHED: &str = ".unfinished-";

pub(crate) fn unfinished_file(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)
}

/// Removes what a killed process was writing. Only for the one that holds the lock.
pub(crate) fn remove_unfinished(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Replaces a file as a whole: readers see the old or the new content, never half of it.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let error = || StoreError::io("can't write", path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = unfinished_file(folder).map_err(error())?;
    file.write_all(content).map_err(error())?;
    file.as_file().sync_all().map_err(error())?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(readable).map_err(error())?;
    file.persist(path).map_err(|failed| error()(failed.error))?;
    // The new name must survive a power cut as well as the content.
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(error())
}

/// A text as part of a folder name.
fn slug(text: &str) -> String {
    let mut slug: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect::<String>()
        .split('-')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    slug.truncate(40);
    if slug.is_empty() {
        "run".to_owned()
    } else {
        slug
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_new_folders_are_plain_and_never_taken_twice() {
        let root = tempfile::tempdir().unwrap();
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        let one = RunFolder::fresh(root.path(), now, "My Suite!", "cmd:python3 a.py").unwrap();
        let two = RunFolder::fresh(root.path(), now, "My Suite!", "cmd:python3 a.py").unwrap();
        assert_eq!(one.name(), "20261115-120000-my-suite-cmd-python3-a-py");
        assert_eq!(two.name(), "20261115-120000-my-suite-cmd-python3-a-py-2");
        two.mark_latest();
        let latest = fs::read_link(root.path().join("latest")).unwrap();
        assert_eq!(latest.to_string_lossy(), two.name());
    }

    #[test]
    fn a_folder_is_taken_once() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path().join("run"));
        assert!(!folder.is_written());
        let lock = folder.lock().unwrap();
        assert!(matches!(folder.lock(), Err(StoreError::Locked(_))));
        assert!(folder.is_written());
        drop(lock);
        assert!(!folder.is_written());
        folder.lock().unwrap();
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("thesis.tex"), "").unwrap();
        let refused = RunFolder::at(root.path()).lock();
        assert!(matches!(refused, Err(StoreError::Occupied(_))));
    }

    #[test]
    fn what_a_newer_one_says_in_known_words_can_be_read() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1/run.json");
        let text = fs::read_to_string(golden).unwrap();
        let newer = text.replacen('{', "{\"colour\": [1],", 1);
        let newer = newer.replacen("\"format\": 1", "\"format\": 2", 1);
        assert_ne!(newer, text);
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("run.json"), newer).unwrap();
        let folder = RunFolder::at(root.path());
        assert_eq!(folder.read_newer_manifest().unwrap().format, 2);
        let refused = folder.read_manifest();
        assert!(matches!(refused, Err(StoreError::Newer { found: 2, .. })));
    }

    #[test]
    fn a_newer_format_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("run.json"), r#"{"format":99}"#).unwrap();
        let refused = RunFolder::at(root.path()).read_manifest();
        assert!(matches!(refused, Err(StoreError::Newer { found: 99, .. })));
    }
}
