//! What a run has of the machine while it goes on, and that nothing of it is left afterwards.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::support::Bench;

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// A file system of this test's own, gone with it.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    pub(crate) fn tmpfs(at: &Path, options: &str) -> Self {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(at)
            .status();
        assert!(mount.unwrap().success(), "only root may mount");
        Self(at.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        assert!(unmounted.unwrap().success());
    }
}

/// What a run has of the machine: a folder for temporary files that is its own, and a name for the
/// programs it runs, by which they are found again.
pub(crate) struct Ground<'a> {
    bench: &'a Bench,
    pub(crate) temporary: PathBuf,
    pub(crate) mark: String,
    owners: Vec<u32>,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(bench: &'a Bench) -> Self {
        let temporary = bench.path("tmp");
        fs::create_dir(&temporary).unwrap();
        // Sandboxes run under users of their own, who must get there.
        for folder in [bench.path("."), temporary.clone()] {
            fs::set_permissions(folder, Permissions::from_mode(0o711)).unwrap();
        }
        let mark = bench.path("tmp").to_str().unwrap().replace('/', "-");
        Self {
            bench,
            temporary,
            mark,
            owners: Vec::new(),
        }
    }

    /// `agon run suite --out run` and further arguments.
    pub(crate) fn start(&mut self, args: &[&str]) -> Started {
        let mut all = vec!["run", "suite", "--out", "run"];
        all.extend(args);
        self.begin(&all)
    }

    /// `agon` with any arguments.
    pub(crate) fn begin(&mut self, args: &[&str]) -> Started {
        let mut child = self
            .bench
            .agon(args)
            .env("TMPDIR", &self.temporary)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        self.owners.push(child.id());
        let (tell, heard) = channel();
        let words = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in words.lines() {
                let line = line.unwrap();
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Started {
            child,
            heard,
            said: Vec::new(),
        }
    }

    /// Nothing of all that was started here is left.
    pub(crate) fn check_clean(&self) {
        for (pid, command) in self.processes() {
            // Killed ones may need a moment to be gone.
            let Some(handle) =
                Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            else {
                continue;
            };
            let limit = Timespec {
                tv_sec: 10,
                tv_nsec: 0,
            };
            let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit));
            assert_eq!(ended, Ok(1), "still running: {command}");
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let temporary = self.temporary.to_str().unwrap();
        assert!(!mounts.contains(temporary), "{mounts}");
        let groups = self.control_groups(Path::new("/sys/fs/cgroup"));
        assert!(groups.is_empty(), "{groups:?}");
        let left: Vec<_> = fs::read_dir(&self.temporary).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    fn processes(&self) -> Vec<(i32, String)> {
        let about = |pid: i32| {
            let read = |what| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
            let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            let group = String::from_utf8_lossy(&read("cgroup")).into_owned();
            let ours = command.contains(self.temporary.to_str().unwrap())
                || command.contains(&self.mark)
                || group.lines().any(|line| self.owns(line));
            ours.then_some((pid, command))
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| about(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    fn control_groups(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if self.owns(&entry.file_name().to_string_lossy()) {
                found.push(entry.path());
            }
            found.extend(self.control_groups(&entry.path()));
        }
        found
    }

    /// Whether the last part of a path is a name that one of our processes gave.
    pub(crate) fn owns(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.owners
            .iter()
            .any(|pid| name.starts_with(&format!("agon-{pid}-")))
    }
}

/// A run that goes on beside the test.
pub(crate) struct Started {
    pub(crate) child: Child,
    heard: Receiver<String>,
    said: Vec<String>,
}

impl Started {
    /// Waits for a line on standard error.
    #[track_caller]
    pub(crate) fn hear(&mut self, what: &str) {
        loop {
            match self.heard.recv_timeout(HANG) {
                Ok(line) => {
                    let found = line.contains(what);
                    self.said.push(line);
                    if found {
                        return;
                    }
                }
                Err(error) => panic!("`{what}`: {error}: {}", self.said.join("\n")),
            }
        }
    }

    /// Lets it go on for a while. Says whether it came to its end by itself.
    pub(crate) fn ends_within(&mut self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Its status and everything it said.
    pub(crate) fn end(mut self) -> (ExitStatus, Vec<String>) {
        assert!(self.ends_within(HANG), "{}", self.said.join("\n"));
        (self.child.wait().unwrap(), self.said)
    }
}
