//! A place of its own for the desktops of one test, and what must be gone after them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

use crate::support::{Bench, Called};

/// A place of its own for the list of desktops; all of them are ended with the test.
pub(super) struct Place(pub(super) Bench);

impl Place {
    pub(super) fn new() -> Self {
        Self(Bench::new())
    }

    pub(super) fn agon(&self, args: &[&str]) -> Command {
        let mut command = self.0.agon(&[&["desktop"], args].concat());
        self.prepare(&mut command);
        command
    }

    pub(super) fn prepare(&self, command: &mut Command) {
        command.env("XDG_RUNTIME_DIR", self.0.path(""));
        command.env_remove("DISPLAY").env_remove("XAUTHORITY");
    }

    pub(super) fn call(&self, args: &[&str]) -> Called {
        Called(self.agon(args).output().unwrap())
    }

    /// Starts a desktop that stays.
    pub(super) fn start(&self, args: &[&str]) -> Value {
        let args = [&["start", "--detach", "--json"], args].concat();
        self.call(&args).expect(0).json()
    }

    /// Calls a function by name.
    pub(super) fn ask(&self, args: &[&str]) -> Value {
        self.call(&[&["call"], args].concat()).expect(0).json()
    }

    pub(super) fn list(&self) -> Vec<Value> {
        let listed = self.call(&["list", "--json"]).expect(0).stdout();
        let lines = listed.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.0.path("agon/desktops")
    }

    pub(super) fn clean(&self) -> Value {
        let mut command = self.0.agon(&["clean", "--json"]);
        self.prepare(&mut command);
        Called(command.output().unwrap()).expect(0).json()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.agon(&["stop", "--all"]).output();
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub(super) fn number(display: &Value) -> u32 {
    text(display).strip_prefix(':').unwrap().parse().unwrap()
}

pub(super) fn lock(display: &Value) -> PathBuf {
    format!("/tmp/.X{}-lock", number(display)).into()
}

pub(super) fn link(display: &Value) -> PathBuf {
    format!("/tmp/.X11-unix/X{}", number(display)).into()
}

pub(super) fn owner(desktop: &Value) -> u32 {
    let (pid, _) = text(&desktop["owner"]).split_once('-').unwrap();
    pid.parse().unwrap()
}

/// Waits until a process has ended.
pub(super) fn wait_for_end(pid: u32) {
    let process = Pid::from_raw(pid.cast_signed()).unwrap();
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else {
        return;
    };
    let mut fds = [PollFd::new(&handle, PollFlags::IN)];
    let timeout = Timespec::try_from(Duration::from_secs(20)).unwrap();
    assert_eq!(
        poll(&mut fds, Some(&timeout)).unwrap(),
        1,
        "{pid} does not end"
    );
}

/// Nothing of this desktop is on the machine any more.
pub(super) fn check_gone(desktop: &Value) {
    let mark = text(&desktop["owner"]);
    // Others may have taken the number since.
    let holder = fs::read_to_string(lock(&desktop["display"])).unwrap_or_default();
    assert_ne!(holder.trim(), owner(desktop).to_string());
    let target = fs::read_link(link(&desktop["display"])).unwrap_or_default();
    assert!(
        !target.to_string_lossy().contains(mark),
        "{}",
        target.display()
    );
    for name in ["authority", "calls", "socket"] {
        let path = Path::new(text(&desktop[name]));
        assert!(path.symlink_metadata().is_err(), "{}", path.display());
    }
    // All of it names the folder of the desktop, which carries its owner.
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        assert!(!line.contains(mark), "{line}");
    }
}
