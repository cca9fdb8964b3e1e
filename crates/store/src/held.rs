//! Whether somebody holds a run's lock, told by the system: the lock itself is never taken for it, because
//! then a run that wants to begin would be refused. Knows nothing of what is written.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agon_core::{Clock, SystemClock};

use crate::plain_file::open_plain;

/// Where only another machine could tell, a run that wrote within this time is being written.
const LATELY: Duration = Duration::from_mins(1);

/// Kinds of file systems whose locks may be held where this system does not see them: NFS, SMB, CIFS, 9P,
/// FUSE, Ceph, AFS.
const ELSEWHERE: [u32; 8] = [
    0x6969,
    0x517B,
    0xFE53_4D42,
    0xFF53_4D42,
    0x0102_1997,
    0x6573_5546,
    0x00C3_6400,
    0x5346_414F,
];

/// The process ids of the whole machine, as `/proc/self/ns/pid` names them: who lives there sees every lock.
const EVERYBODY: &str = "pid:[4026531836]";
/// A name of such a place is no longer.
const LONGEST_SIGN: u64 = 64;

const LIST: &str = "/proc/locks";
/// Room for a list of the usual length.
const ROOM: usize = 64 << 10;
/// Bytes of the list that come whole: a page, less a line.
const PIECE: usize = 3_900;
/// How often a longer list is asked for: one in some hundred has a hole.
const ASKED: usize = 3;

/// What the system says about locks, asked once.
#[derive(Debug)]
pub struct Locks {
    /// `None`: it can't be told.
    locks: Option<String>,
    mounts: String,
    /// Where the processes are that can be seen from here.
    here: Option<String>,
}

impl Locks {
    pub fn now() -> Self {
        Self {
            locks: listed().ok(),
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap_or_default(),
            here: processes(),
        }
    }

    /// `lock` is the file that is locked, `written` are those that grow meanwhile.
    pub(crate) fn hold(&self, lock: &Path, written: impl FnOnce() -> Vec<PathBuf>) -> bool {
        let Ok(file) = open_plain(lock) else {
            return false;
        };
        match self.list(&file) {
            Ok(true) => true,
            Ok(false) if !may_be_elsewhere(&file) && self.would_see_holder(&file) => false,
            Ok(false) | Err(_) => changed_lately(&written()),
        }
    }

    fn list(&self, file: &File) -> io::Result<bool> {
        let meta = file.metadata()?;
        let device = (
            rustix::fs::major(meta.dev()).into(),
            rustix::fs::minor(meta.dev()).into(),
        );
        let mut devices = vec![device];
        // Btrfs and the like give each volume a device of its own, of which the list of locks does not speak.
        devices.extend(mounted_device(file, &self.mounts));
        let locks = self.locks.as_ref();
        let locks = locks.ok_or_else(|| io::Error::other("no list of locks"))?;
        Ok(holds(locks, &devices, meta.ino()))
    }

    /// Only locks of processes that can be seen are listed. Whoever took this one said where it lives.
    fn would_see_holder(&self, file: &File) -> bool {
        let Some(here) = &self.here else {
            return true;
        };
        let mut there = String::new();
        let read = file.take(LONGEST_SIGN).read_to_string(&mut there);
        here == EVERYBODY || read.is_err() || there.is_empty() || there.trim_end() == here
    }
}

/// Says in a lock's file where its holder lives, for those who can't see it from where they are.
pub(crate) fn sign(lock: &File) -> io::Result<()> {
    let here = processes().unwrap_or_default();
    lock.set_len(0)?;
    lock.write_all_at(here.as_bytes(), 0)
}

/// The system gives its list in pieces, as large as they are asked for but no larger than a page. When a lock
/// is taken or given back between two of them, one that is held all the time may be in neither: a list that
/// does not come at once is asked for several times, and whatever was in one of them is there.
fn listed() -> io::Result<String> {
    let mut locks = String::with_capacity(ROOM);
    File::open(LIST)?.read_to_string(&mut locks)?;
    if locks.len() > PIECE {
        for _ in 1..ASKED {
            locks.reserve(ROOM);
            File::open(LIST)?.read_to_string(&mut locks)?;
        }
    }
    Ok(locks)
}

fn processes() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Whether a line such as `1: FLOCK  ADVISORY  WRITE 23664 fe:00:10010901 0 EOF` is about this file. Those
/// who only wait have `->` before the kind.
fn holds(locks: &str, devices: &[(u64, u64)], inode: u64) -> bool {
    locks.lines().any(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let exclusive = words.next() == Some("FLOCK") && words.nth(1) == Some("WRITE");
        exclusive
            && words.nth(1).is_some_and(|place| {
                let mut parts = place.split(':');
                let mut hex = || u64::from_str_radix(parts.next()?, 16).ok();
                let device = hex().zip(hex());
                let same = parts.next().and_then(|number| number.parse().ok()) == Some(inode);
                same && device.is_some_and(|device| devices.contains(&device))
            })
    })
}

/// The device that the kernel knows the file's mount by.
fn mounted_device(file: &File, mounts: &str) -> Option<(u64, u64)> {
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let mount = told.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
    let line = mounts
        .lines()
        .find(|line| line.split(' ').next() == Some(mount.trim()))?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn may_be_elsewhere(file: &File) -> bool {
    // The numbers have 32 bits; how wide the field is depends on the machine.
    let kind = rustix::fs::fstatfs(file.as_fd()).map(|stat| stat.f_type as u32);
    kind.is_ok_and(|kind| ELSEWHERE.contains(&kind))
}

fn changed_lately(files: &[PathBuf]) -> bool {
    let now = SystemTime::from(SystemClock::default().now());
    files.iter().any(|file| {
        let changed = fs::symlink_metadata(file).and_then(|meta| meta.modified());
        // Another machine's clock may be ahead of ours.
        changed.is_ok_and(|changed| now.duration_since(changed).unwrap_or_default() < LATELY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "\
1: FLOCK  ADVISORY  WRITE 23664 fe:00:901 0 EOF
2: POSIX  ADVISORY  WRITE 23457 00:27:425 1073741824 1073742335
3: FLOCK  ADVISORY  READ 22511 fe:00:672 0 EOF
4: FLOCK  ADVISORY  WRITE 22512 fe:10:673 0 EOF
4: -> FLOCK  ADVISORY  WRITE 22513 fe:00:674 0 EOF
5: FLOCK
";

    #[test]
    fn only_an_exclusive_lock_that_is_held_counts() {
        let held = |major, minor, inode| holds(LOCKS, &[(0, 1), (major, minor)], inode);
        assert!(held(0xfe, 0, 901));
        assert!(!held(0xfe, 1, 901));
        assert!(!held(0xfe, 0, 90));
        assert!(!held(0, 0x27, 425));
        assert!(!held(0xfe, 0, 672));
        assert!(held(0xfe, 0x10, 673));
        assert!(!held(0xfe, 0, 674));
    }

    #[test]
    fn the_mount_of_a_file_is_found() {
        let file = tempfile::tempfile().unwrap();
        assert!(mounted_device(&file, &Locks::now().mounts).is_some());
    }

    #[test]
    fn a_file_that_was_written_now_changed_lately() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = [PathBuf::from("/nowhere"), file.path().to_owned()];
        assert!(changed_lately(&files));
        let before = file.as_file().metadata().unwrap().modified().unwrap() - 2 * LATELY;
        file.as_file().set_modified(before).unwrap();
        assert!(!changed_lately(&files));
    }

    /// From within a container, with a run on the machine itself, and the other way round.
    #[test]
    fn who_can_not_see_the_holder_goes_by_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("run.lock");
        let grows = folder.path().join("trials.jsonl");
        fs::write(&lock, "pid:[4026539999]").unwrap();
        fs::write(&grows, "").unwrap();
        let seen_from = |here: &str| {
            let locks = Locks {
                locks: Some(LOCKS.to_owned()),
                mounts: String::new(),
                here: Some(here.to_owned()),
            };
            locks.hold(&lock, || vec![grows.clone()])
        };
        assert!(seen_from("pid:[4026530000]"));
        assert!(!seen_from("pid:[4026539999]"));
        assert!(!seen_from(EVERYBODY));
        let file = File::options().write(true).open(&grows).unwrap();
        let before = file.metadata().unwrap().modified().unwrap() - 2 * LATELY;
        file.set_modified(before).unwrap();
        assert!(!seen_from("pid:[4026530000]"));
    }

    #[test]
    fn a_lock_that_is_a_pipe_is_held_by_nobody() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("run.lock");
        mknodat(CWD, &lock, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(!Locks::now().hold(&lock, Vec::new));
    }
}
