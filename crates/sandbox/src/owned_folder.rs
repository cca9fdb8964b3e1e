//! A folder of this process in a place for temporary things. Its name carries its owner, so that one
//! left behind by a killed process is known as such and removed.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::local::scratch;
use crate::reaper::OwnerMark;

/// Removed with everything in it when dropped.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
}

impl OwnedFolder {
    /// Others may go through it to what they know, but not list it.
    pub fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = OwnerMark::current()?.name(format_args!("f{number}"));
        let place = scratch::places()
            .into_iter()
            .filter_map(|place| place.canonicalize().ok())
            .find(|place| scratch::is_open(place))
            .ok_or_else(|| {
                io::Error::other("no folder for temporary things: /tmp must be open to all users")
            })?;
        let path = place.join(name);
        fs::DirBuilder::new().mode(0o711).create(&path)?;
        let folder = Self { path };
        // Whatever our own umask is.
        fs::set_permissions(&folder.path, Permissions::from_mode(0o711))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnedFolder {
    fn drop(&mut self) {
        // What remains is removed by the next start.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_value() {
        let folder = OwnedFolder::new().unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "x").unwrap();
        assert_ne!(OwnedFolder::new().unwrap().path(), path);
        drop(folder);
        assert!(!path.exists());
    }
}
