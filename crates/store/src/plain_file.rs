//! Opens the files of a run folder, which may come from anywhere: a pipe in the place of a file must keep
//! nobody waiting, a device must fill no memory, and a link must lead nowhere. Knows nothing of what they hold.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// For reading.
pub fn open_plain(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDONLY)
}

/// The whole file, of at most `most` bytes.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_at_most(path, most)?;
    // It may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

/// For reading a file of at most `most` bytes.
pub(crate) fn open_at_most(path: &Path, most: u64) -> io::Result<File> {
    let file = open_plain(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    Ok(file)
}

/// For appending to, and for reading; made if it is not there.
pub(crate) fn append_plain(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)
}

/// For writing at any place, and for reading; it must be there.
pub(crate) fn write_plain(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDWR)
}

/// The same; made if it is not there.
pub(crate) fn make_plain(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDWR | OFlags::CREATE)
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(CWD, path, flags, Mode::from_raw_mode(0o666)) {
        Err(Errno::LOOP) => {
            return Err(io::Error::other(
                "it is a link, and links lead nowhere here",
            ));
        }
        file => File::from(file?),
    };
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no plain file"))
    }
}

fn too_large(most: u64) -> io::Error {
    io::Error::other(format!("it is larger than any of ours ({most} bytes)"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{FileType, mknodat};

    use super::*;

    #[test]
    fn only_plain_files_are_opened_and_only_as_much_as_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "12345").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        symlink("not-there", at("dangling")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for name in ["link", "device", "dangling", "folder", "pipe"] {
            assert!(open_plain(&at(name)).is_err(), "{name}");
            assert!(append_plain(&at(name)).is_err(), "{name}");
            assert!(make_plain(&at(name)).is_err(), "{name}");
            assert!(write_plain(&at(name)).is_err(), "{name}");
        }
        assert!(!at("not-there").exists());
        assert_eq!(read_plain(&at("file"), 5).unwrap(), b"12345");
        let told = read_plain(&at("file"), 4).unwrap_err().to_string();
        assert!(told.contains("larger"), "{told}");
        let missing = open_plain(&at("nothing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
