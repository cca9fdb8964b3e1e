//! Whole folders as tar: packed when everybody else in the sandbox is dead, unpacked into a fresh
//! one. Links are kept as links and never followed; sockets, pipes and devices are left out.

use std::fs::{self, DirBuilder, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::OFlags;
use tar::{Archive, Builder, EntryType, Header};

/// Tar counts in blocks of this size.
const BLOCK: u64 = 512;

const CHUNK: usize = 64 << 10;

/// Packs `root` with what it holds, in order of name. Files with holes or many names can be far
/// larger together than the folder they are in: what is beyond `budget` bytes is left out, as is
/// what cannot be read. That is the doing of whoever made it so.
pub(super) fn pack(root: &Path, into: OwnedFd, budget: u64) -> io::Result<()> {
    let mut packer = Packer {
        tar: Builder::new(BufWriter::with_capacity(CHUNK, File::from(into))),
        left: budget,
    };
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for name in names(&root.join(&folder)) {
            let path = folder.join(name);
            if packer.add(root, &path)? == Added::Folder {
                folders.push(path);
            }
        }
    }
    packer.tar.into_inner()?.flush()
}

struct Packer<W: Write> {
    tar: Builder<W>,
    left: u64,
}

#[derive(PartialEq)]
enum Added {
    Folder,
    Other,
}

impl<W: Write> Packer<W> {
    fn add(&mut self, root: &Path, path: &Path) -> io::Result<Added> {
        let full = root.join(path);
        let Ok(about) = full.symlink_metadata() else {
            return Ok(Added::Other);
        };
        // A name that fits no header takes blocks of its own.
        let name = path.as_os_str().len() as u64;
        let size = if about.is_file() { about.len() } else { 0 };
        let cost = 3 * BLOCK + name + size.next_multiple_of(BLOCK);
        if cost > self.left {
            return Ok(Added::Other);
        }
        let mut header = header(&about);
        if about.is_dir() {
            header.set_entry_type(EntryType::Directory);
            self.tar.append_data(&mut header, path, io::empty())?;
        } else if about.is_symlink() {
            let Ok(target) = fs::read_link(&full) else {
                return Ok(Added::Other);
            };
            header.set_entry_type(EntryType::Symlink);
            self.tar.append_link(&mut header, path, target)?;
        } else if about.is_file() {
            let Ok(file) = open_kept(&full, &about) else {
                return Ok(Added::Other);
            };
            header.set_size(size);
            self.tar.append_data(&mut header, path, file.take(size))?;
        } else {
            return Ok(Added::Other);
        }
        self.left -= cost;
        Ok(if about.is_dir() {
            Added::Folder
        } else {
            Added::Other
        })
    }
}

fn header(about: &Metadata) -> Header {
    let mut header = Header::new_gnu();
    header.set_mode(about.mode() & 0o7777);
    header.set_mtime(u64::try_from(about.mtime()).unwrap_or(0));
    header.set_size(0);
    header
}

/// What is in a folder, in order. A folder that its owner has closed is opened: we are its owner.
fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let list = || fs::read_dir(folder);
    let entries = list().or_else(|_| {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        list()
    });
    let mut names: Vec<_> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    names
}

/// Opens a regular file for reading, also one that its owner has made unreadable.
fn open_kept(path: &Path, about: &Metadata) -> io::Result<File> {
    let open = || {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
    };
    open().or_else(|_| {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let file = open()?;
        fs::set_permissions(path, about.permissions())?;
        Ok(file)
    })
}

/// Unpacks an archive into `root`, replacing what is in the way. Modes of folders come last: a
/// folder may be closed to its owner.
pub(super) fn unpack(archive: OwnedFd, root: &Path) -> io::Result<()> {
    let mut file = File::from(archive);
    file.rewind()?;
    fs::create_dir_all(root)?;
    let mut folders = Vec::new();
    for entry in Archive::new(BufReader::with_capacity(CHUNK, file)).entries()? {
        let mut entry = entry?;
        let Some(path) = below(root, &entry.path()?) else {
            continue;
        };
        let mode = entry.header().mode()? & 0o7777;
        let modified = UNIX_EPOCH + Duration::from_secs(entry.header().mtime()?);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
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
                clear(&path);
                symlink(target, &path)?;
            }
            EntryType::Regular | EntryType::Continuous => {
                clear(&path);
                let mut file = File::create_new(&path)?;
                copy_sparse(&mut entry, &mut file)?;
                file.set_permissions(Permissions::from_mode(mode))?;
                file.set_times(FileTimes::new().set_modified(modified))?;
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

/// Takes away a file or a link that is in the way.
fn clear(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Zeros become holes, so that a file that was sparse before still fits.
fn copy_sparse(from: &mut impl Read, to: &mut File) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut length = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return to.set_len(length),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = buffer.get(..count).unwrap_or_default();
        length += count as u64;
        if chunk.iter().all(|&byte| byte == 0) {
            to.seek(SeekFrom::Start(length))?;
        } else {
            to.write_all(chunk)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(root: &Path, budget: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        pack(root, file.try_clone().unwrap().into(), budget).unwrap();
        file
    }

    fn tree(root: &Path) -> Vec<(String, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for name in names(&folder) {
                let path = folder.join(name);
                let about = path.symlink_metadata().unwrap();
                let content = if about.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if about.is_symlink() {
                    fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes()
                } else {
                    fs::read(&path).unwrap()
                };
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, about.mode(), content));
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
        fs::write(at(&"long".repeat(50)), "x").unwrap();
        fs::set_permissions(at("a/text"), Permissions::from_mode(0o750)).unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        symlink("t".repeat(300), at("long-link")).unwrap();

        let after = tempfile::tempdir().unwrap();
        unpack(packed(before.path(), 1 << 20).into(), after.path()).unwrap();
        assert_eq!(tree(after.path()), tree(before.path()));
    }

    #[test]
    fn what_is_beyond_the_budget_is_left_out() {
        let before = tempfile::tempdir().unwrap();
        fs::write(before.path().join("a"), "small").unwrap();
        let sparse = File::create(before.path().join("b")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        fs::write(before.path().join("c"), "small").unwrap();

        let after = tempfile::tempdir().unwrap();
        unpack(packed(before.path(), 1 << 20).into(), after.path()).unwrap();
        let names: Vec<_> = tree(after.path())
            .into_iter()
            .map(|(name, ..)| name)
            .collect();
        assert_eq!(names, ["a", "c"]);
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
