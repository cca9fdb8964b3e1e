//! What enforces limits on memory and processes: control groups of either version where we may
//! make them, limits that processes put on themselves otherwise.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Access, access};
use rustix::process::Pid;

use crate::init::processes::Process;
use crate::reaper::OwnerMark;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enforcement {
    /// Version 1: one folder under which groups are made for each of the two controllers.
    CgroupV1 { memory: PathBuf, pids: PathBuf },
    /// Version 2: the folder under which groups are made.
    CgroupV2 { parent: PathBuf },
    /// No control group that we may use.
    Rlimits,
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CgroupV1 { .. } => "cgroup v1 (memory, pids)",
            Self::CgroupV2 { .. } => "cgroup v2 (memory, pids)",
            Self::Rlimits => "rlimits",
        })
    }
}

impl Enforcement {
    /// What this process can use.
    pub fn detect() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let ours = Membership::parse(&read("/proc/self/cgroup"));
        let mounts = Mount::parse_all(&read("/proc/self/mountinfo"));
        Self::version_1(&ours, &mounts)
            .or_else(|| Self::version_2(&ours, &mounts))
            .unwrap_or(Self::Rlimits)
    }

    fn version_1(ours: &[Membership], mounts: &[Mount]) -> Option<Self> {
        let folder = |controller: &str| {
            let membership = ours.iter().find(|it| it.has(controller))?;
            let mount = mounts.iter().find(|it| it.has(controller))?;
            let folder = mount.folder(&membership.path);
            may_make_groups(&folder).then_some(folder)
        };
        Some(Self::CgroupV1 {
            memory: folder("memory")?,
            pids: folder("pids")?,
        })
    }

    /// The nearest group above us that hands both controllers down and that we may move processes
    /// within.
    fn version_2(ours: &[Membership], mounts: &[Mount]) -> Option<Self> {
        let membership = ours.iter().find(|it| it.controllers.is_empty())?;
        let mount = mounts.iter().find(|it| it.unified)?;
        let parent = mount
            .folder(&membership.path)
            .ancestors()
            .take_while(|folder| folder.starts_with(&mount.point))
            .find(|folder| {
                let handed = fs::read_to_string(folder.join("cgroup.subtree_control"));
                let handed = handed.unwrap_or_default();
                ["memory", "pids"]
                    .iter()
                    .all(|wanted| handed.split_whitespace().any(|it| it == *wanted))
                    && access(folder.join("cgroup.procs"), Access::WRITE_OK).is_ok()
                    && may_make_groups(folder)
            })?
            .to_owned();
        Some(Self::CgroupV2 { parent })
    }

    /// The folders under which groups are made.
    pub(crate) fn parents(&self) -> Vec<&Path> {
        match self {
            Self::CgroupV1 { memory, pids } => vec![memory, pids],
            Self::CgroupV2 { parent } => vec![parent],
            Self::Rlimits => Vec::new(),
        }
    }

    /// Makes a group, if there are any.
    pub(crate) fn group(&self, name: &str) -> io::Result<Option<Group>> {
        let group = match self {
            Self::CgroupV1 { memory, pids } => Group {
                unified: false,
                memory: memory.join(name),
                pids: pids.join(name),
                limits: Mutex::default(),
            },
            Self::CgroupV2 { parent } => Group {
                unified: true,
                memory: parent.join(name),
                pids: parent.join(name),
                limits: Mutex::default(),
            },
            Self::Rlimits => return Ok(None),
        };
        for folder in group.folders() {
            fs::create_dir(folder)?;
        }
        Ok(Some(group))
    }
}

/// A control group; removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    unified: bool,
    memory: PathBuf,
    pids: PathBuf,
    /// Memory and processes as last set: a place is mostly used for the same again.
    limits: Mutex<Option<(u64, u64)>>,
}

impl Group {
    fn folders(&self) -> Vec<&Path> {
        if self.unified {
            vec![&self.memory]
        } else {
            vec![&self.memory, &self.pids]
        }
    }

    pub(crate) fn limit(&self, memory: u64, processes: u64) -> io::Result<()> {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        if *limits == Some((memory, processes)) {
            return Ok(());
        }
        // Unknown until all of them are set.
        *limits = None;
        self.set(memory, processes)?;
        *limits = Some((memory, processes));
        Ok(())
    }

    fn set(&self, memory: u64, processes: u64) -> io::Result<()> {
        let set = |file: &str, value: &str| fs::write(self.memory.join(file), value);
        let bytes = memory.to_string();
        if self.unified {
            set("memory.max", &bytes)?;
            // Absent where the kernel does not account for swap.
            let _ = set("memory.swap.max", "0");
        } else {
            // Memory with swap must never be below memory; absent without swap accounting.
            let _ = set("memory.memsw.limit_in_bytes", "-1");
            set("memory.limit_in_bytes", &bytes)?;
            let _ = set("memory.memsw.limit_in_bytes", &bytes);
        }
        fs::write(self.pids.join("pids.max"), processes.to_string())
    }

    pub(crate) fn add(&self, pid: Pid) -> io::Result<()> {
        let pid = pid.as_raw_nonzero().to_string();
        for folder in self.folders() {
            fs::write(folder.join("cgroup.procs"), &pid)?;
        }
        Ok(())
    }

    /// How often the kernel has killed for want of memory.
    pub(crate) fn oom_kills(&self) -> u64 {
        let file = if self.unified {
            "memory.events"
        } else {
            "memory.oom_control"
        };
        oom_kills(&fs::read_to_string(self.memory.join(file)).unwrap_or_default())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in self.folders() {
            // If somebody is still in it, the next start removes it.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn oom_kills(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
        .next()
        .unwrap_or(0)
}

/// Only trying tells: groups may be mounted read-only or belong to somebody else.
fn may_make_groups(folder: &Path) -> bool {
    let Ok(mark) = OwnerMark::current() else {
        return false;
    };
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let probe = folder.join(mark.name(format_args!("probe{thread}")));
    fs::create_dir(&probe).is_ok() && fs::remove_dir(&probe).is_ok()
}

/// The folder of the control group that a process is in: every process is in one of each kind, so any will do that
/// names its members.
pub(crate) fn group_of(process: Pid) -> Option<PathBuf> {
    let groups = format!("/proc/{}/cgroup", process.as_raw_nonzero());
    let groups = fs::read_to_string(groups).ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (groups, mounts) = (Membership::parse(&groups), Mount::parse_all(&mounts));
    let folder = |controller: &str| {
        let group = groups.iter().find(|it| it.has(controller))?;
        let mount = mounts.iter().find(|it| it.has(controller))?;
        Some(mount.folder(&group.path))
    };
    let unified = || {
        let group = groups.iter().find(|it| it.controllers.is_empty())?;
        let mount = mounts.iter().find(|it| it.unified)?;
        Some(mount.folder(&group.path))
    };
    folder("pids").or_else(|| folder("memory")).or_else(unified)
}

/// Whoever is in a group.
pub(crate) fn members(group: &Path) -> Vec<Process> {
    let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let pids = members.lines().filter_map(|line| line.parse().ok());
    pids.filter_map(Process::find).collect()
}

/// A line of `/proc/self/cgroup`.
#[derive(Debug, PartialEq, Eq)]
struct Membership {
    /// Empty for version 2.
    controllers: Vec<String>,
    path: String,
}

impl Membership {
    fn parse(text: &str) -> Vec<Self> {
        let line = |line: &str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            Some(Self {
                controllers: controllers
                    .split(',')
                    .filter(|it| !it.is_empty())
                    .map(str::to_owned)
                    .collect(),
                path: parts.next()?.to_owned(),
            })
        };
        text.lines().filter_map(line).collect()
    }

    fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|it| it == controller)
    }
}

/// A line of `/proc/self/mountinfo` about control groups.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// Which group is seen at the mount point.
    root: PathBuf,
    point: PathBuf,
    unified: bool,
    options: Vec<String>,
}

impl Mount {
    fn parse_all(text: &str) -> Vec<Self> {
        let line = |line: &str| {
            let (place, kind) = line.split_once(" - ")?;
            let mut place = place.split(' ').skip(3);
            let mut kind = kind.split(' ');
            let unified = match kind.next()? {
                "cgroup" => false,
                "cgroup2" => true,
                _ => return None,
            };
            Some(Self {
                root: place.next()?.into(),
                point: place.next()?.into(),
                unified,
                options: kind.nth(1)?.split(',').map(str::to_owned).collect(),
            })
        };
        text.lines().filter_map(line).collect()
    }

    fn has(&self, controller: &str) -> bool {
        !self.unified && self.options.iter().any(|it| it == controller)
    }

    /// Where the group of this path is seen.
    fn folder(&self, path: &str) -> PathBuf {
        let below = Path::new(path).strip_prefix(&self.root);
        self.point.join(below.unwrap_or(Path::new("")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        let ours = Membership::parse("4:memory:/a/b\n3:cpu,pids:/\n0::/user.slice\nnonsense\n");
        assert_eq!(ours.len(), 3);
        assert!(ours[1].has("pids") && !ours[1].has("memory"));
        assert_eq!(
            (ours[0].path.as_str(), ours[2].controllers.len()),
            ("/a/b", 0)
        );

        let mounts = Mount::parse_all(
            "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
             32 31 0:29 /docker/1 /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n\
             33 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n",
        );
        assert_eq!(mounts.len(), 2);
        assert!(mounts[0].has("memory") && mounts[1].unified);
        let folder = |path| mounts[0].folder(path);
        assert_eq!(folder("/docker/1"), Path::new("/sys/fs/cgroup/memory"));
        assert_eq!(folder("/docker/1/x"), Path::new("/sys/fs/cgroup/memory/x"));
        assert_eq!(folder("/elsewhere"), Path::new("/sys/fs/cgroup/memory"));
    }

    #[test]
    fn kills_are_counted_in_both_formats() {
        assert_eq!(
            oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
            3
        );
        assert_eq!(oom_kills("low 0\noom 5\noom_kill 2\noom_group_kill 0\n"), 2);
        assert_eq!(oom_kills(""), 0);
    }
}
