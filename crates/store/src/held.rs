//! Whether somebody holds a run's lock, told by the system: the lock itself is never taken for it, because
//! then a run that wants to begin would be refused. Knows nothing of what is written.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use agon_core::{Clock, SystemClock};

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

/// `lock` is the file that is locked, `written` are those that grow meanwhile.
pub(crate) fn is_held(lock: &Path, written: &[&Path]) -> bool {
    let Ok(file) = File::open(lock) else {
        return false;
    };
    match listed(&file) {
        Ok(true) => true,
        Ok(false) if !may_be_elsewhere(&file) => false,
        Ok(false) | Err(_) => changed_lately(written),
    }
}

fn listed(file: &File) -> io::Result<bool> {
    let meta = file.metadata()?;
    let device = (
        rustix::fs::major(meta.dev()).into(),
        rustix::fs::minor(meta.dev()).into(),
    );
    let mut devices = vec![device];
    // Btrfs and the like give each volume a device of its own, of which the list of locks does not speak.
    devices.extend(mounted_device(file));
    let locks = fs::read_to_string("/proc/locks")?;
    Ok(holds(&locks, &devices, meta.ino()))
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
fn mounted_device(file: &File) -> Option<(u64, u64)> {
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let mount = told.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
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

fn changed_lately(files: &[&Path]) -> bool {
    let now = SystemTime::from(SystemClock::default().now());
    files.iter().any(|file| {
        let changed = fs::metadata(file).and_then(|meta| meta.modified());
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
        assert!(mounted_device(&file).is_some());
    }

    #[test]
    fn a_file_that_was_written_now_changed_lately() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(changed_lately(&[Path::new("/nowhere"), file.path()]));
        let before = file.as_file().metadata().unwrap().modified().unwrap() - 2 * LATELY;
        file.as_file().set_modified(before).unwrap();
        assert!(!changed_lately(&[Path::new("/nowhere"), file.path()]));
    }
}
