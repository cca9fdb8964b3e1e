//! Single files of the sandbox, read and written for the host. Only regular files: a pipe or a
//! device that an agent has put in the way is refused and never waited for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::contract::WORK;

/// Paths start at the working folder.
pub(super) fn resolve(path: &str) -> PathBuf {
    Path::new(WORK).join(path)
}

pub(super) fn read(path: &str, limit: u64, into: OwnedFd) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true);
    let file = open_regular(&mut options, &resolve(path))?;
    io::copy(&mut file.take(limit), &mut File::from(into))?;
    Ok(())
}

pub(super) fn write(path: &str, content: OwnedFd) -> io::Result<()> {
    let path = resolve(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    let mut file = open_regular(&mut options, &path)?;
    file.set_len(0)?;
    let mut content = File::from(content);
    content.rewind()?;
    io::copy(&mut content, &mut file)?;
    Ok(())
}

fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::other("not a regular file"))
    }
}
