//! The cookie that opens a display, and the file in which X clients look for it.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Matches every address of a display, so that it holds for host, sandbox and container alike.
const FAMILY_WILD: u16 = 0xffff;

/// Displays of this machine, by its name. Clients in Python (python-xlib, and with it pynput and pyautogui) look for
/// nothing else.
const FAMILY_LOCAL: u16 = 256;

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
        // No address, no display number: both match all.
        self.entry(FAMILY_WILD, b"", b"")
    }

    /// The same, with an entry for clients that look for the display by its number and the machine's name.
    pub fn authority_file_on(&self, host: &str, display: u32) -> Vec<u8> {
        let mut file = self.authority_file();
        let display = display.to_string();
        file.extend(self.entry(FAMILY_LOCAL, host.as_bytes(), display.as_bytes()));
        file
    }

    fn entry(&self, family: u16, address: &[u8], display: &[u8]) -> Vec<u8> {
        let mut entry = family.to_be_bytes().to_vec();
        for field in [address, display, NAME, &self.0] {
            let len = u16::try_from(field.len()).unwrap_or(u16::MAX);
            entry.extend(len.to_be_bytes());
            entry.extend(field);
        }
        entry
    }

    /// Reads a file that [`Cookie::authority_file`] or [`Cookie::authority_file_on`] gave the content of.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::from_authority_file(&fs::read(path)?)
            .ok_or_else(|| io::Error::other("it was not written by Agon"))
    }

    /// The way back from both.
    pub fn from_authority_file(file: &[u8]) -> Option<Self> {
        let cookie = file.last_chunk().copied().map(Self)?;
        let rest = file.strip_prefix(cookie.authority_file().as_slice())?;
        (rest.is_empty() || rest.starts_with(&FAMILY_LOCAL.to_be_bytes())).then_some(cookie)
    }

    /// Writes an authority file of this cookie, readable with `mode`.
    pub(crate) fn write(content: &[u8], path: &Path, mode: u32) -> io::Result<()> {
        // Never into a file that somebody else has put there.
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
        file.write_all(content)?;
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
        Cookie::write(&cookie.authority_file(), &path, 0o600).unwrap();
        assert_eq!(Cookie::read(&path).unwrap(), cookie);
        fs::write(&path, cookie.authority_file_on("agon", 90)).unwrap();
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
