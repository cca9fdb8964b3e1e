//! A private desktop under a display number of this machine, so that programs of the same user find
//! it with `DISPLAY` and `XAUTHORITY`. It owns a lock file, a link to the private socket and an
//! authority file; knows nothing of what the number is used for.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use agon_sandbox::OwnerMark;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

use crate::address::DisplayAddress;
use crate::authority::Cookie;
use crate::desktop::Desktop;
use crate::error::DesktopError;

/// Far from those that X servers take by themselves.
const NUMBERS: std::ops::Range<u32> = 90..1090;

const SOCKETS: &str = "/tmp/.X11-unix";

/// Withdrawn when dropped.
#[derive(Debug)]
pub struct Published {
    number: u32,
    authority: PathBuf,
    /// Nobody else takes the number while this lives, not even for a moment.
    _reserved: Reserved,
}

impl Published {
    /// Takes a free number for a private desktop and writes its cookie to the file `authority`, for
    /// its owner alone.
    pub fn new(desktop: &Desktop, authority: &Path) -> Result<Self, DesktopError> {
        let DisplayAddress::Socket { path, cookie } = desktop.address() else {
            return Err(DesktopError::Invalid(
                "only a private desktop can be published: this one has a number already".to_owned(),
            ));
        };
        ready_folder().map_err(DesktopError::io(format!("can't use {SOCKETS}")))?;
        for number in NUMBERS {
            let Some(reserved) = Reserved::take(number) else {
                continue;
            };
            clear_stale(number);
            let locked = lock(number);
            match locked.and_then(|()| symlink(path, link_path(number))) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    remove_own_lock(number);
                    continue;
                }
                Err(error) => {
                    remove_own_lock(number);
                    return Err(DesktopError::io(format!("can't publish in {SOCKETS}"))(
                        error,
                    ));
                }
            }
            let published = Self {
                number,
                authority: authority.to_owned(),
                _reserved: reserved,
            };
            let host = rustix::system::uname();
            let host = host.nodename().to_string_lossy();
            let content = cookie.authority_file_on(&host, number);
            let written = Cookie::write(&content, authority, 0o600);
            written.map_err(DesktopError::io(format!(
                "can't write {}",
                authority.display()
            )))?;
            return Ok(published);
        }
        Err(DesktopError::Start(format!(
            "all display numbers from {} to {} are taken",
            NUMBERS.start,
            NUMBERS.end - 1
        )))
    }

    /// What `DISPLAY` has to be, such as `:90`.
    pub fn display(&self) -> String {
        format!(":{}", self.number)
    }

    /// What `XAUTHORITY` has to be.
    pub fn authority(&self) -> &Path {
        &self.authority
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        // What remains is removed by the next to publish, or by `agon clean`.
        let _ = fs::remove_file(link_path(self.number));
        remove_own_lock(self.number);
        let _ = fs::remove_file(&self.authority);
    }
}

/// Removes numbers that dead owners had; says which files they were.
pub fn reap_dead_owners() -> Vec<PathBuf> {
    let mut removed = Vec::new();
    let entries = fs::read_dir(SOCKETS).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix('X')?.parse().ok());
        let Some(number) = number.filter(|number| NUMBERS.contains(number)) else {
            continue;
        };
        if link_owner(number).is_some_and(|owner| owner.is_dead())
            && let Some(_reserved) = Reserved::take(number)
        {
            removed.extend(clear_stale(number));
        }
    }
    removed
}

/// The abstract socket of a display number, bound by us: the kernel gives it to one process of this
/// machine and takes it back when that dies. Clients look there first, are refused, and go on to the
/// file; were it not ours, anybody could listen there and be given the cookie.
#[derive(Debug)]
struct Reserved {
    _socket: OwnedFd,
}

impl Reserved {
    fn take(number: u32) -> Option<Self> {
        let name = format!("{SOCKETS}/X{number}");
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).ok()?;
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
        bind(&socket, &address).ok()?;
        Some(Self { _socket: socket })
    }
}

fn lock_path(number: u32) -> PathBuf {
    format!("/tmp/.X{number}-lock").into()
}

fn link_path(number: u32) -> PathBuf {
    format!("{SOCKETS}/X{number}").into()
}

/// A folder for all users, where only the owner of a name can take it away.
fn ready_folder() -> io::Result<()> {
    const OPEN: u32 = 0o1777;
    match DirBuilder::new().mode(OPEN).create(SOCKETS) {
        Ok(()) => fs::set_permissions(SOCKETS, Permissions::from_mode(OPEN))?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let about = fs::symlink_metadata(SOCKETS)?;
    let us = rustix::process::geteuid().as_raw();
    let trusted = about.uid() == 0 || about.uid() == us;
    let sticky = about.mode() & 0o022 == 0 || about.mode() & 0o1000 != 0;
    if about.is_dir() && trusted && sticky {
        return Ok(());
    }
    Err(io::Error::other(
        "it must be a folder of root with mode 1777: run `install -d -m 1777 /tmp/.X11-unix` as root",
    ))
}

/// As X servers write it: they leave a number alone whose process lives.
fn lock(number: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o444);
    let mut file = options.open(lock_path(number))?;
    writeln!(file, "{:>10}", std::process::id())
}

fn locked_by(number: u32) -> Option<u32> {
    let mut text = String::new();
    let mut options = OpenOptions::new();
    let no_surprise = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options
        .read(true)
        .custom_flags(no_surprise.bits().cast_signed());
    let file = options.open(lock_path(number)).ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn remove_own_lock(number: u32) {
    if locked_by(number) == Some(std::process::id()) {
        let _ = fs::remove_file(lock_path(number));
    }
}

/// Whose private socket a link of ours leads to; its folder carries the mark.
fn link_owner(number: u32) -> Option<OwnerMark> {
    let link = link_path(number);
    is_ours(&link).then_some(())?;
    let target = fs::read_link(link).ok()?;
    let mut parts = target.components();
    parts.find_map(|part| {
        let (mark, _) = part
            .as_os_str()
            .to_str()?
            .strip_prefix("agon-")?
            .rsplit_once('-')?;
        mark.parse().ok()
    })
}

/// Removes what a dead owner left of a number that is reserved by us; says what it was.
fn clear_stale(number: u32) -> Vec<PathBuf> {
    let mut removed = Vec::new();
    let mut remove = |path: PathBuf| {
        if fs::remove_file(&path).is_ok() {
            removed.push(path);
        }
    };
    match link_owner(number) {
        Some(owner) if owner.is_dead() => remove(link_path(number)),
        Some(_) => return removed,
        // Something else has the name: its lock is none of our business.
        None if link_path(number).symlink_metadata().is_ok() => return removed,
        None => {}
    }
    if locked_by(number).is_some_and(has_ended) && is_ours(&lock_path(number)) {
        remove(lock_path(number));
    }
    removed
}

/// Also of a process whose parent has not asked yet how it ended.
fn has_ended(pid: u32) -> bool {
    let about = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = about
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

fn is_ours(path: &Path) -> bool {
    let us = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|about| about.uid() == us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_reserved_once() {
        // Beyond those that are handed out.
        let number = NUMBERS.end + std::process::id();
        let first = Reserved::take(number).unwrap();
        assert!(Reserved::take(number).is_none());
        drop(first);
        Reserved::take(number).unwrap();
    }

    #[test]
    fn what_a_dead_owner_left_is_cleared_and_what_a_living_one_has_is_not() {
        ready_folder().unwrap();
        let mine = OwnerMark::current().unwrap().to_string();
        let (rest, namespace) = mine.rsplit_once('-').unwrap();
        let (pid, _) = rest.split_once('-').unwrap();
        let dead = format!("{pid}-1-{namespace}");
        let number = 4_000_000 + std::process::id();
        for (mark, stays) in [(mine.as_str(), true), (&dead, false)] {
            symlink(format!("/tmp/agon-{mark}-f0/x/X0"), link_path(number)).unwrap();
            let cleared = clear_stale(number);
            assert_eq!(link_path(number).symlink_metadata().is_ok(), stays);
            assert_eq!(cleared.is_empty(), stays);
            let _ = fs::remove_file(link_path(number));
        }
        // A lock alone, of a process that is no more.
        fs::write(lock_path(number), format!("{:>10}\n", u32::MAX)).unwrap();
        assert_eq!(clear_stale(number), [lock_path(number)]);
        lock(number).unwrap();
        assert!(clear_stale(number).is_empty());
        remove_own_lock(number);
        assert!(!lock_path(number).exists());
    }
}
