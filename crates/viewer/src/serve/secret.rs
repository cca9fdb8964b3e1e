//! Words that only this process and who it told know. Never shown by `Debug`, and compared in a time that
//! tells nothing.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rand::TryRng as _;
use rand::rngs::SysRng;

use crate::error::ViewerError;

/// Hexadecimal digits of a secret.
const DIGITS: usize = 32;
/// A file with more than that is none of ours.
const LONGEST: u64 = 64;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn random() -> Result<Self, ViewerError> {
        let mut bytes = [0; 16];
        SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
            ViewerError::Internal(format!("the system gives no random bytes: {error}"))
        })?;
        Ok(Self(hex::encode(bytes)))
    }

    /// The same at each start, so that pages which are open go on after it: kept in a file that nobody but this
    /// user may read. Where there is no place for it, it is new.
    pub(crate) fn kept(folder: &Path) -> Result<Self, ViewerError> {
        let path = folder.join("token");
        if let Some(known) = read(&path) {
            return Ok(known);
        }
        let secret = Self::random()?;
        let write = || -> io::Result<()> {
            fs::create_dir_all(folder)?;
            // Whoever made what is there, others may have read it.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)?;
            file.write_all(secret.0.as_bytes())
        };
        write().ok();
        // Another viewer may have been quicker.
        Ok(read(&path).unwrap_or(secret))
    }

    /// For whom it is meant.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, said: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), said.as_bytes());
        let differing = ours
            .iter()
            .zip(theirs)
            .fold(0, |found, (a, b)| found | (a ^ b));
        ours.len() == theirs.len() && std::hint::black_box(differing) == 0
    }
}

/// What was kept, if only this user can have read it.
fn read(path: &Path) -> Option<Secret> {
    let file = agon_store::open_plain(path).ok()?;
    let meta = file.metadata().ok()?;
    let own = meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    let whole = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (own && whole).then_some(Secret(text))
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_kept_for_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let first = Secret::kept(&cache).unwrap();
        assert_eq!(Secret::kept(&cache).unwrap(), first);
        let path = cache.join("token");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        // One that others could read, a broken one and a link are worth nothing.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(&path, open).unwrap();
        let second = Secret::kept(&cache).unwrap();
        assert_ne!(second, first);
        assert_eq!(mode(&path), 0o600);
        fs::write(&path, "short").unwrap();
        let third = Secret::kept(&cache).unwrap();
        assert_ne!(third, second);
        let other = folder.path().join("other");
        fs::rename(&path, &other).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert_ne!(Secret::kept(&cache).unwrap(), third);
        assert_ne!(Secret::kept(Path::new("/proc/no")).unwrap(), third);
    }

    #[test]
    fn only_the_very_same_words_are_taken() {
        let secret = Secret::random().unwrap();
        let said = secret.reveal().to_owned();
        assert!(secret.is(&said));
        for wrong in [
            "",
            &said[1..],
            &format!("{said}0"),
            &said.replace(|_| true, "g"),
        ] {
            assert!(!secret.is(wrong), "{wrong}");
        }
        assert_ne!(Secret::random().unwrap(), secret);
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
