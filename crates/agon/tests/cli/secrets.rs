//! Looks for a secret in everything that a command wrote: for every test that gives one away.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use agon::core::Digest;
use agon::store::RunFolder;
use agon::store::blobs::open_compressed;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};

use crate::support::Called;

/// A secret in the forms in which it could be found.
pub(crate) struct Secret {
    forms: Vec<Vec<u8>>,
}

impl Secret {
    pub(crate) fn new(secret: &str) -> Self {
        let mut forms = vec![secret.as_bytes().to_vec()];
        // Base64 of a text depends on where the secret begins in it; what surely stands there is kept.
        for before in ["", "x", "xx"] {
            let text = format!("{before}{secret}");
            for encoded in [BASE64_STANDARD.encode(&text), BASE64_URL_SAFE.encode(&text)] {
                let sure = encoded.trim_end_matches('=');
                forms.push(sure.as_bytes()[4..sure.len() - 4].to_vec());
            }
        }
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        forms.push(hex.into_bytes());
        Self { forms }
    }

    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        let found = |form: &Vec<u8>| bytes.windows(form.len()).any(|part| part == form);
        self.forms.iter().any(found)
    }

    /// Every file below `folder` that has it, packed blobs and names included.
    pub(crate) fn files_with(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.search(folder, &mut found);
        found
    }

    fn search(&self, folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if self.is_in(path.as_os_str().as_encoded_bytes()) {
                found.push(path.clone());
            }
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                self.search(&path, found);
            } else if self.is_in(&fs::read(&path).unwrap_or_default())
                || unpacked(&path).is_some_and(|bytes| self.is_in(&bytes))
            {
                found.push(path);
            }
        }
    }

    #[track_caller]
    pub(crate) fn assert_unsaid(&self, called: &Called) {
        assert!(!self.is_in(&called.0.stdout), "{}", called.stdout());
        assert!(!self.is_in(&called.0.stderr), "{}", called.stderr());
    }
}

/// What a blob of a run folder holds, if it is a packed one.
fn unpacked(path: &Path) -> Option<Vec<u8>> {
    let (rest, folder) = (path.file_name()?.to_str()?, path.parent()?);
    let digest = Digest::from_hex(&format!("{}{rest}", folder.file_name()?.to_str()?))?;
    let run = RunFolder::at(folder.parent()?.parent()?);
    let mut bytes = Vec::new();
    open_compressed(&run, &digest)
        .ok()?
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}
