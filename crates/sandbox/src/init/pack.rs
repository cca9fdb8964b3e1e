//! The working folder as tar, packed when everybody else in the sandbox is dead. Checks believe the
//! archive when it says that a file is not there, so nothing may be missing from it uncounted.
//! Links are kept as links and never followed.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use tar::{EntryType, Header};

/// Tar counts in blocks of this size.
const BLOCK: u64 = 512;

/// Longer names and targets take blocks of their own.
const SHORT_NAME: usize = 100;

/// What can be unpacked again, with the name of the working folder in front.
const LONGEST_PATH: usize = 4000;

const CHUNK: usize = 64 << 10;

/// How long contents are packed, so that whoever waits for us hears at least the names.
const CONTENTS: Duration = Duration::from_secs(40);

/// What an archive may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

/// Packs what `root` holds, folder by folder and in order of name, and says how much of it is not
/// in the archive as it was. A file whose content does not fit (with holes it can be larger than the
/// folder it is in) or comes too late is there without content; beyond the limit of entries, nothing
/// is. Below what is missing nothing is counted any more.
pub(super) fn pack(root: &Path, into: OwnedFd, room: Room) -> io::Result<u64> {
    pack_until(Instant::now() + CONTENTS, root, into, room)
}

/// An archive of a working folder of which nothing is to be taken: the folder as a whole is missing.
pub(super) fn pack_nothing(into: OwnedFd) -> io::Result<u64> {
    tar::Builder::new(File::from(into)).finish()?;
    Ok(1)
}

fn pack_until(late: Instant, root: &Path, into: OwnedFd, room: Room) -> io::Result<u64> {
    let mut packer = Packer {
        tar: BufWriter::with_capacity(CHUNK, File::from(into)),
        room,
        late,
        left_out: 0,
    };
    let mut opened = Vec::new();
    let mut folders = vec![(PathBuf::new(), root.symlink_metadata()?.mode())];
    while let Some((folder, mode)) = folders.pop() {
        let full = root.join(&folder);
        // The working folder itself stays open, for those who come after.
        if unlock(&full, mode) && full != root {
            opened.push((full.clone(), mode));
        }
        for name in packer.names(&full) {
            let (full, path) = (full.join(&name), folder.join(&name));
            let Ok(about) = full.symlink_metadata() else {
                packer.left_out += 1;
                continue;
            };
            if packer.add(&full, &path, &about)? && about.is_dir() {
                folders.push((path, about.mode()));
            }
        }
    }
    // From the inside out: a closed folder hides those in it.
    for (folder, mode) in opened.into_iter().rev() {
        let _ = fs::set_permissions(folder, Permissions::from_mode(mode & 0o7777));
    }
    packer.finish()
}

struct Packer<W: Write> {
    tar: W,
    room: Room,
    /// From when on there is no time for contents.
    late: Instant,
    left_out: u64,
}

impl<W: Write> Packer<W> {
    /// What is in a folder, in order, as far as there is room for it.
    fn names(&mut self, folder: &Path) -> Vec<OsString> {
        let mut names = Vec::new();
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) if (names.len() as u64) < self.room.entries => {
                            names.push(entry.file_name());
                        }
                        _ => self.left_out += 1,
                    }
                }
            }
            Err(_) => self.left_out += 1,
        }
        names.sort_unstable();
        names
    }

    /// Says whether there was room for it.
    fn add(&mut self, full: &Path, path: &Path, about: &Metadata) -> io::Result<bool> {
        let name = path.as_os_str().as_bytes();
        let target = if about.is_symlink() {
            fs::read_link(full)
                .unwrap_or_default()
                .into_os_string()
                .into_encoded_bytes()
        } else {
            Vec::new()
        };
        let cost = BLOCK + cost_of_long(name) + cost_of_long(&target);
        if self.room.entries == 0 || name.len() > LONGEST_PATH || cost > self.room.bytes {
            self.left_out += 1;
            return Ok(false);
        }
        self.room.entries -= 1;
        self.room.bytes -= cost;

        self.long(EntryType::GNULongName, name)?;
        self.long(EntryType::GNULongLink, &target)?;
        let mut content = self.content(full, about);
        let size = if content.is_some() { about.len() } else { 0 };
        let mut header = header(kind(about), name, size);
        header.set_mode(about.mode() & 0o7777);
        header.set_mtime(u64::try_from(about.mtime()).unwrap_or(0));
        if let Some(gnu) = header.as_gnu_mut() {
            fill(&mut gnu.linkname, &target);
        }
        self.write(
            header,
            size,
            content.as_mut().map(|file| file as &mut dyn Read),
        )?;
        Ok(true)
    }

    /// Opens a regular file for its content, if there is room and time for that.
    fn content(&mut self, full: &Path, about: &Metadata) -> Option<File> {
        if !about.is_file() || about.len() == 0 {
            return None;
        }
        let cost = about.len().next_multiple_of(BLOCK);
        let opened = if cost > self.room.bytes || Instant::now() >= self.late {
            None
        } else {
            open(full, about).ok()
        };
        match opened {
            Some(_) => self.room.bytes -= cost,
            None => self.left_out += 1,
        }
        opened
    }

    /// A name or target that fits no header stands in an entry of its own before it.
    fn long(&mut self, kind: EntryType, text: &[u8]) -> io::Result<()> {
        if text.len() <= SHORT_NAME {
            return Ok(());
        }
        let size = text.len() as u64 + 1;
        let header = header(kind, b"././@LongLink", size);
        self.write(header, size, Some(&mut &*text))
    }

    fn write(
        &mut self,
        mut header: Header,
        size: u64,
        content: Option<&mut dyn Read>,
    ) -> io::Result<()> {
        header.set_cksum();
        self.tar.write_all(header.as_bytes())?;
        if let Some(content) = content {
            // Exactly as much as the header says, and full blocks.
            let exactly = content.take(size).chain(io::repeat(0));
            io::copy(
                &mut exactly.take(size.next_multiple_of(BLOCK)),
                &mut self.tar,
            )?;
        }
        Ok(())
    }

    /// Says how much was left out.
    fn finish(mut self) -> io::Result<u64> {
        io::copy(&mut io::repeat(0).take(2 * BLOCK), &mut self.tar)?;
        self.tar.flush()?;
        Ok(self.left_out)
    }
}

fn header(kind: EntryType, name: &[u8], size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    if let Some(gnu) = header.as_gnu_mut() {
        fill(&mut gnu.name, name);
    }
    header
}

fn fill(field: &mut [u8], text: &[u8]) {
    for (to, from) in field.iter_mut().zip(text) {
        *to = *from;
    }
}

fn cost_of_long(text: &[u8]) -> u64 {
    if text.len() <= SHORT_NAME {
        0
    } else {
        BLOCK + (text.len() as u64 + 1).next_multiple_of(BLOCK)
    }
}

/// Tar knows no sockets; without anybody at its other end, one is as good as a pipe.
fn kind(about: &Metadata) -> EntryType {
    let kind = about.file_type();
    if kind.is_dir() {
        EntryType::Directory
    } else if kind.is_symlink() {
        EntryType::Symlink
    } else if kind.is_file() {
        EntryType::Regular
    } else if kind.is_char_device() {
        EntryType::Char
    } else if kind.is_block_device() {
        EntryType::Block
    } else {
        EntryType::Fifo
    }
}

/// Opens a folder to us that its owner has closed: we are its owner. Without all three bits it can
/// be listed, but what is in it not be looked at. Says whether there was anything to do.
fn unlock(folder: &Path, mode: u32) -> bool {
    const ALL: u32 = 0o700;
    mode & ALL != ALL
        && fs::set_permissions(folder, Permissions::from_mode(mode & 0o7777 | ALL)).is_ok()
}

/// Opens a regular file for reading, also one that its owner has made unreadable.
fn open(path: &Path, about: &Metadata) -> io::Result<File> {
    let open = || {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
    };
    open().or_else(|_| {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let file = open();
        fs::set_permissions(path, about.permissions())?;
        file
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;

    const ROOMY: Room = Room {
        bytes: 1 << 20,
        entries: 1000,
    };

    type Listed = (BTreeMap<OsString, (EntryType, u64)>, u64);

    /// Names with their kinds and sizes, and how much was left out.
    fn listed(root: &Path, room: Room) -> Listed {
        listed_until(Instant::now() + CONTENTS, root, room)
    }

    fn listed_until(late: Instant, root: &Path, room: Room) -> Listed {
        let file = tempfile::NamedTempFile::new().unwrap();
        let into = file.reopen().unwrap().into();
        let left_out = pack_until(late, root, into, room).unwrap();
        assert!(file.as_file().metadata().unwrap().len() <= room.bytes + 2 * BLOCK);
        let mut archive = tar::Archive::new(file.reopen().unwrap());
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let path = OsString::from_vec(entry.path_bytes().into_owned());
            (path, (entry.header().entry_type(), entry.size()))
        });
        (entries.collect(), left_out)
    }

    #[test]
    fn content_without_room_leaves_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "small").unwrap();
        File::create(at("b")).unwrap().set_len(1 << 40).unwrap();
        fs::write(at("c"), "small").unwrap();
        let (entries, left_out) = listed(folder.path(), ROOMY);
        let sizes: Vec<u64> = entries.values().map(|(_, size)| *size).collect();
        assert_eq!((sizes, left_out), (vec![5, 0, 5], 1));
    }

    #[test]
    fn content_without_time_leaves_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("a")).unwrap();
        fs::write(at("a/b"), "content").unwrap();
        fs::write(at("c"), "").unwrap();
        let (entries, left_out) = listed_until(Instant::now(), folder.path(), ROOMY);
        let sizes: Vec<u64> = entries.values().map(|(_, size)| *size).collect();
        assert_eq!((sizes, left_out), (vec![0, 0, 0], 1));
    }

    #[test]
    fn entries_without_room_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..20 {
            fs::create_dir(folder.path().join(number.to_string())).unwrap();
        }
        let few = Room {
            entries: 7,
            ..ROOMY
        };
        let (entries, left_out) = listed(folder.path(), few);
        assert_eq!((entries.len(), left_out), (7, 13));
        let small = Room {
            bytes: 7 * BLOCK + 1,
            ..ROOMY
        };
        let (entries, left_out) = listed(folder.path(), small);
        assert_eq!((entries.len(), left_out), (7, 13));
    }

    #[test]
    fn a_path_that_is_too_long_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let name = "d".repeat(250);
        let mut deep = folder.path().to_owned();
        while deep.as_os_str().len() + name.len() < 4096 - 1 {
            deep.push(&name);
        }
        fs::create_dir_all(&deep).unwrap();
        // One more, from within: no path leads there.
        let handle = File::open(&deep).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mkdirat(&handle, name.as_str(), mode).unwrap();
        let (entries, left_out) = listed(folder.path(), ROOMY);
        assert!(!entries.is_empty());
        assert_eq!(left_out, 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Names of any bytes and any length, also as targets of links.
        #[test]
        fn every_name_is_kept(names in proptest::collection::btree_set(
            proptest::collection::vec(1..=255_u8, 1..=255), 1..8,
        )) {
            let folder = tempfile::tempdir().unwrap();
            let names: Vec<OsString> = names
                .into_iter()
                .map(|mut name| {
                    name.iter_mut().filter(|byte| **byte == b'/').for_each(|byte| *byte = b'_');
                    OsString::from_vec(name)
                })
                .filter(|name| name != "." && name != "..")
                .collect();
            for name in &names {
                let _ = std::os::unix::fs::symlink(name, folder.path().join(name));
            }
            let (entries, left_out) = listed(folder.path(), ROOMY);
            prop_assert_eq!(left_out, 0);
            for name in &names {
                prop_assert!(entries.contains_key(name), "{:?}", name);
            }
        }
    }
}
