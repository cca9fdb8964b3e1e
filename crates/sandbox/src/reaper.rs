//! What dead owners left on this machine: scratch folders, control groups, and sandboxes that were
//! just being started. All carry the mark of their owner, so that only those whose owner is
//! certainly dead are removed.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::init::processes::{self, Process, Processes};
use crate::limits::{self, Enforcement};
use crate::local::scratch;
use crate::local::slot::FIRST_USER;

/// Names a process for good: pids are used again, a pid with its start is not, and both mean
/// something only in their own pid namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerMark {
    pid: u32,
    start: u64,
    namespace: u64,
}

impl OwnerMark {
    /// The mark of this process.
    pub fn current() -> io::Result<Self> {
        let namespace = own_namespace()?;
        let pid = std::process::id();
        let unreadable = || io::Error::other("cannot read our own entry in /proc");
        let start = Process::look_up(pid)?.ok_or_else(unreadable)?.start;
        Ok(Self {
            pid,
            start,
            namespace,
        })
    }

    /// Whether the owner has certainly ended. Of other pid namespaces we know nothing, and neither do we if
    /// we can't look: what is left is removed another time, what is taken from the living is lost.
    pub fn is_dead(&self) -> bool {
        let ours = own_namespace().is_ok_and(|namespace| namespace == self.namespace);
        ours && match Process::look_up(self.pid) {
            Ok(None) => true,
            Ok(Some(process)) => process.start != self.start || process.is_dead(),
            Err(_) => false,
        }
    }

    /// Reads the owner out of a name made by [`OwnerMark::name`].
    fn of(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let (mark, _) = rest.rsplit_once('-')?;
        mark.parse().ok()
    }

    /// A name for the `number`th thing of this owner.
    pub(crate) fn name(&self, number: impl fmt::Display) -> String {
        format!("{PREFIX}{self}-{number}")
    }
}

/// An error where `/proc` is that of another namespace: then its numbers are not ours, and it would tell us
/// of strangers.
fn own_namespace() -> io::Result<u64> {
    let us = std::process::id().to_string();
    if fs::read_link("/proc/self")? != Path::new(&us) {
        return Err(io::Error::other(
            "/proc is that of another pid namespace: mount one of this namespace, as `unshare --pid \
             --fork --mount-proc` does",
        ));
    }
    Ok(fs::metadata("/proc/self/ns/pid")?.ino())
}

const PREFIX: &str = "agon-";

impl fmt::Display for OwnerMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.pid, self.start, self.namespace)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the mark of an owner")]
pub struct NotAMark(String);

impl FromStr for OwnerMark {
    type Err = NotAMark;

    fn from_str(text: &str) -> Result<Self, NotAMark> {
        let mut parts = text.split('-').map(str::parse::<u64>);
        let mut next = || parts.next().and_then(Result::ok);
        let mark = (|| {
            Some(Self {
                pid: next()?.try_into().ok()?,
                start: next()?,
                namespace: next()?,
            })
        })();
        match (mark, next()) {
            (Some(mark), None) if mark.to_string() == text => Ok(mark),
            _ => Err(NotAMark(text.to_owned())),
        }
    }
}

/// What was removed, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaped {
    pub processes: Vec<u32>,
    pub cgroups: Vec<PathBuf>,
    pub folders: Vec<PathBuf>,
    /// In words, each with its reason.
    pub left: Vec<String>,
}

/// Removes what dead owners left, and nothing else. What cannot be removed now is left for the
/// next time.
pub fn reap_dead_owners() -> Reaped {
    let mut reaped = Reaped::default();
    let strays = strays();
    let enforcement = Enforcement::detect();
    let groups = enforcement.parents().into_iter().flat_map(orphans);
    let groups: Vec<PathBuf> = groups.collect();
    let members = groups.iter().flat_map(|group| limits::members(group));
    // All at once: those who can be ended are then gone together, and the others are waited for once.
    let stuck = processes::end_together(strays.iter().copied().chain(members));
    for Process { pid, .. } in strays {
        match stuck.iter().any(|process| process.pid == pid) {
            true => reaped.left.push(unended(pid)),
            false => reaped.processes.push(pid),
        }
    }
    for group in groups {
        match fs::remove_dir(&group) {
            Ok(()) => reaped.cgroups.push(group),
            Err(error) => {
                let members = limits::members(&group);
                let held = members.iter().find(|process| process.is_held());
                let why = held.or(members.first()).map(|it| unended(it.pid));
                let why = why.unwrap_or_else(|| error.to_string());
                reaped.left.push(format!("{}: {why}", group.display()));
            }
        }
    }
    for parent in scratch::places() {
        for folder in orphans(&parent) {
            match fs::remove_dir_all(&folder) {
                Ok(()) => reaped.folders.push(folder),
                Err(error) => reaped.left.push(format!("{}: {error}", folder.display())),
            }
        }
    }
    reaped
}

fn unended(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    match tracer.map(str::trim) {
        None | Some("0") => format!("process {pid} can't be ended"),
        Some(tracer) => format!("process {pid} can't be ended: process {tracer} traces it"),
    }
}

/// A sandbox dies with its owner, except in the moment in which bubblewrap has split in two and
/// one half waits for the other: if the other dies then, the first waits for ever.
fn strays() -> Vec<Process> {
    let us = rustix::process::geteuid();
    let ours = |user: u32| user == us.as_raw() || (us.is_root() && user >= FIRST_USER);
    Processes::now()
        .iter()
        .filter(|Process { pid, .. }| {
            let about = fs::metadata(format!("/proc/{pid}"));
            about.is_ok_and(|about| ours(about.uid()))
        })
        .filter(|Process { pid, .. }| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            owner_of_command(&line).is_some_and(|owner| owner.is_dead())
        })
        .copied()
        .collect()
}

/// The owner of a bubblewrap process: its scratch folder is among the arguments.
fn owner_of_command(line: &[u8]) -> Option<OwnerMark> {
    let mut words = line.split(|&byte| byte == 0).map(OsStr::from_bytes);
    if !Path::new(words.next()?).ends_with("bwrap") {
        return None;
    }
    words
        .flat_map(|word| Path::new(word).components())
        .find_map(|part| OwnerMark::of(part.as_os_str().to_str()?))
}

/// Folders of ours, by name and user, whose owner is dead.
fn orphans(parent: &Path) -> Vec<PathBuf> {
    let us = rustix::process::geteuid().as_raw();
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str()
                .and_then(OwnerMark::of)
                .is_some_and(|owner| owner.is_dead())
        })
        .filter(|entry| {
            let about = entry.path().symlink_metadata();
            about.is_ok_and(|about| about.is_dir() && about.uid() == us)
        })
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_mark_reads_back() {
        let mark = OwnerMark::current().unwrap();
        assert_eq!(mark.to_string().parse(), Ok(mark));
        assert_eq!(OwnerMark::of(&mark.name(7)), Some(mark));
        for bad in ["", "1-2", "1-2-3-4", "+1-2-3", "a-b-c"] {
            assert!(bad.parse::<OwnerMark>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_an_ended_owner_is_dead() {
        let mut child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let namespace = OwnerMark::current().unwrap().namespace;
        let mark = OwnerMark {
            pid: child.id(),
            start: Process::find(child.id()).unwrap().start,
            namespace,
        };
        assert!(!mark.is_dead());
        let elsewhere = OwnerMark {
            namespace: 1,
            ..mark
        };
        let reused = OwnerMark { start: 1, ..mark };
        assert!(reused.is_dead());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(mark.is_dead());
        assert!(!elsewhere.is_dead());
    }

    #[test]
    fn a_command_names_its_owner() {
        let mark = OwnerMark::current().unwrap();
        let path = format!("/tmp/{}/init", mark.name(3));
        let line = |program: &str| format!("{program}\0--ro-bind\0{path}\0/.agon/init\0");
        let owner = |program: &str| owner_of_command(line(program).as_bytes());
        assert_eq!(owner("/usr/bin/bwrap"), Some(mark));
        assert_eq!(owner("/usr/bin/vim"), None);
        assert_eq!(owner_of_command(b"bwrap\0--version\0"), None);
        assert_eq!(owner_of_command(b""), None);
    }

    #[test]
    fn folders_of_the_living_and_of_strangers_stay() {
        let parent = tempfile::tempdir().unwrap();
        let alive = OwnerMark::current().unwrap();
        let dead = OwnerMark { start: 1, ..alive };
        for name in [alive.name(0), dead.name(0), "agon-notes".to_owned()] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        fs::write(parent.path().join(dead.name(1)), "a file").unwrap();
        assert_eq!(orphans(parent.path()), [parent.path().join(dead.name(0))]);
    }
}
