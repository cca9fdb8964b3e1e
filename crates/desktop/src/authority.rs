//! The cookie that opens a display, and the file in which X clients look for it.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Matches every address of a display, so that it holds for host, sandbox and container alike.
const FAMILY_WILD: u16 = 0xffff;

/// Secret: whoever has it sees and controls the desktop.
#[derive(Clone, PartialEq, Eq)]
pub struct Cookie([u8; 16]);

impl Cookie {
    pub fn random() -> Self {
        Self(rand::random())
    }

    pub(crate) fn name() -> Vec<u8> {
        NAME.to_vec()
    }

    pub(crate) fn data(&self) -> Vec<u8> {
        self.0.to_vec()
    }

    /// The content of an authority file that opens any display with this cookie.
    pub fn authority_file(&self) -> Vec<u8> {
        let mut file = FAMILY_WILD.to_be_bytes().to_vec();
        // No address, no display number: both match all.
        for field in [&b""[..], b"", NAME, &self.0] {
            let len = u16::try_from(field.len()).unwrap_or(u16::MAX);
            file.extend(len.to_be_bytes());
            file.extend(field);
        }
        file
    }

    /// Reads a file that [`Cookie::authority_file`] gave the content of.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::from_authority_file(&fs::read(path)?)
            .ok_or_else(|| io::Error::other("it was not written by Agon"))
    }

    /// The way back from [`Cookie::authority_file`].
    pub fn from_authority_file(file: &[u8]) -> Option<Self> {
        let cookie = file.last_chunk().copied().map(Self);
        cookie.filter(|cookie| cookie.authority_file() == file)
    }

    /// Writes the authority file, readable with `mode`.
    pub(crate) fn write(&self, path: &Path, mode: u32) -> io::Result<()> {
        // Never into a file that somebody else has put there.
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
        file.write_all(&self.authority_file())?;
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cookie(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_fields_that_clients_look_for() {
        let file = Cookie([7; 16]).authority_file();
        assert_eq!(&file[..6], [0xff, 0xff, 0, 0, 0, 0]);
        assert_eq!(&file[6..8], [0, 18]);
        assert_eq!(&file[8..26], NAME);
        assert_eq!(&file[26..], [[0, 16].as_slice(), &[7; 16]].concat());
    }

    #[test]
    fn only_a_file_of_ours_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("authority");
        let cookie = Cookie::random();
        cookie.write(&path, 0o600).unwrap();
        assert_eq!(Cookie::read(&path).unwrap(), cookie);
        for other in [&b""[..], b"short", &[0; 64]] {
            fs::write(&path, other).unwrap();
            assert!(Cookie::read(&path).is_err());
        }
    }

    #[test]
    fn a_cookie_is_secret_and_new() {
        let cookie = Cookie::random();
        assert_ne!(cookie, Cookie::random());
        assert_eq!(format!("{cookie:?}"), "Cookie(secret)");
    }
}
