//! A tar file becomes a folder again, in a fresh sandbox.

use std::fs::{self, DirBuilder, File, FileTimes, Permissions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tar::{Archive, EntryType};

const CHUNK: usize = 64 << 10;

/// Unpacks an archive into `root`, replacing what is in the way. Modes of folders come last: a
/// folder may be closed to its owner. Devices become pipes with nobody at their other end.
pub(super) fn unpack(archive: OwnedFd, root: &Path) -> io::Result<()> {
    let mut file = File::from(archive);
    file.rewind()?;
    fs::create_dir_all(root)?;
    let mut folders = Vec::new();
    let mut buffer = vec![0; CHUNK];
    // Entries of one folder mostly follow each other.
    let mut inside = root.to_owned();
    for entry in Archive::new(BufReader::with_capacity(CHUNK, file)).entries()? {
        let mut entry = entry?;
        let Some(path) = below(root, &entry.path()?) else {
            continue;
        };
        let mode = entry.header().mode()? & 0o7777;
        let modified = UNIX_EPOCH + Duration::from_secs(entry.header().mtime()?);
        if let Some(parent) = path.parent().filter(|parent| *parent != inside) {
            fs::create_dir_all(parent)?;
            parent.clone_into(&mut inside);
        }
        match entry.header().entry_type() {
            EntryType::Directory => {
                if !path.is_dir() {
                    DirBuilder::new().mode(0o700).create(&path)?;
                }
                folders.push((path, mode, modified));
            }
            EntryType::Symlink => {
                let target = entry.link_name()?.unwrap_or_default();
                replace(&path, || symlink(&target, &path))?;
            }
            EntryType::Regular | EntryType::Continuous => {
                let mut file = replace(&path, || File::create_new(&path))?;
                copy_sparse(&mut entry, &mut file, &mut buffer)?;
                file.set_permissions(Permissions::from_mode(mode))?;
                file.set_times(FileTimes::new().set_modified(modified))?;
            }
            EntryType::Fifo | EntryType::Char | EntryType::Block => {
                let mode = Mode::from_raw_mode(mode);
                replace(&path, || Ok(mknodat(CWD, &path, FileType::Fifo, mode, 0)?))?;
            }
            _ => {}
        }
    }
    for (path, mode, modified) in folders.into_iter().rev() {
        let folder = File::open(&path)?;
        folder.set_times(FileTimes::new().set_modified(modified))?;
        folder.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// The place of an entry, if it is one below `root`.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut full = root.to_owned();
    for part in path.components() {
        match part {
            Component::Normal(name) => full.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (full != root).then_some(full)
}

/// Makes something anew, in place of a file or a link that is in the way.
fn replace<T>(path: &Path, make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match make() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            make()
        }
        made => made,
    }
}

/// Zeros become holes, so that a file that was sparse before still fits.
fn copy_sparse(from: &mut impl Read, to: &mut File, buffer: &mut [u8]) -> io::Result<()> {
    let mut length = 0;
    let mut hole = false;
    loop {
        let count = match from.read(buffer) {
            Ok(0) if hole => return to.set_len(length),
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = buffer.get(..count).unwrap_or_default();
        length += count as u64;
        hole = chunk.iter().all(|&byte| byte == 0);
        if hole {
            to.seek(SeekFrom::Start(length))?;
        } else {
            to.write_all(chunk)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::init::pack::{Room, pack};

    fn packed(root: &Path) -> File {
        let file = tempfile::tempfile().unwrap();
        let room = Room {
            bytes: 1 << 20,
            entries: 100,
        };
        let left_out = pack(root, file.try_clone().unwrap().into(), room).unwrap();
        assert_eq!(left_out, 0);
        file
    }

    fn tree(root: &Path) -> Vec<(String, u32, i64, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let about = path.symlink_metadata().unwrap();
                let content = if about.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if about.is_symlink() {
                    let target = fs::read_link(&path).unwrap();
                    target.into_os_string().into_encoded_bytes()
                } else if about.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                let name = path.strip_prefix(root).unwrap().display().to_string();
                let modified = if about.is_file() { about.mtime() } else { 0 };
                found.push((name, about.mode(), modified, content));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn a_folder_comes_back_as_it_was() {
        let before = tempfile::tempdir().unwrap();
        let at = |name: &str| before.path().join(name);
        fs::create_dir_all(at("a/empty")).unwrap();
        fs::write(at("a/text"), "hello\n").unwrap();
        fs::write(at("zeros"), vec![0; 200_000]).unwrap();
        fs::write(at("empty"), "").unwrap();
        fs::write(at(&"long".repeat(50)), "x").unwrap();
        fs::set_permissions(at("a/text"), Permissions::from_mode(0o750)).unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        symlink("t".repeat(300), at("long-link")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();

        let after = tempfile::tempdir().unwrap();
        fs::write(after.path().join("link"), "in the way").unwrap();
        unpack(packed(before.path()).into(), after.path()).unwrap();
        assert_eq!(tree(after.path()), tree(before.path()));
    }

    #[test]
    fn an_entry_outside_of_the_folder_is_not_unpacked() {
        let root = Path::new("/work");
        assert_eq!(below(root, Path::new("../x")), None);
        assert_eq!(below(root, Path::new("/etc/passwd")), None);
        assert_eq!(below(root, Path::new("./a/./b")), Some("/work/a/b".into()));
        assert_eq!(below(root, Path::new(".")), None);
    }
}
