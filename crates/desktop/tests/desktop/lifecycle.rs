//! Desktops start, end with everything in them, and leave nothing behind.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use agon_desktop::{Desktop, DesktopConfig, DesktopError, ServerState, WarmPool};
use agon_sandbox::OwnerMark;
use rustix::process::Signal;

fn start() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

/// Folders in `/tmp` that belong to this process.
fn own_folders() -> Vec<PathBuf> {
    let mark = OwnerMark::current().unwrap().to_string();
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains(&mark))
        .collect()
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Megabytes of memory that are really in use.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() / 1024
}

fn descendants(of: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children"));
    let mut found = Vec::new();
    for child in children.unwrap_or_default().split_whitespace() {
        let child = child.parse().unwrap();
        found.push(child);
        found.extend(descendants(child));
    }
    found
}

fn named(processes: &[u32], name: &str) -> Vec<u32> {
    let is = |pid: &u32| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm"));
        comm.is_ok_and(|comm| comm.trim() == name)
    };
    processes.iter().copied().filter(is).collect()
}

fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

fn signal(pid: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_server_that_died_by_itself_is_told_from_one_that_was_killed_or_stopped() {
    // A crash looks the same to the server, whoever sends the signal.
    for (sent, by_itself) in [
        (Signal::KILL, false),
        (Signal::STOP, false),
        (Signal::SEGV, true),
        (Signal::ABORT, true),
    ] {
        let desktop = start();
        assert_eq!(desktop.server_state(), Some(ServerState::Runs));
        let inside = descendants(desktop.process().unwrap());
        signal(named(&inside, "Xvfb")[0], sent);
        let state = desktop.server_state().unwrap();
        assert_eq!(
            matches!(state, ServerState::Ended(_)),
            by_itself,
            "{sent:?}: {state:?}"
        );
        assert_eq!(
            matches!(state, ServerState::Disturbed(_)),
            !by_itself,
            "{sent:?}: {state:?}"
        );
    }
}

#[test]
fn a_desktop_has_the_size_that_was_asked_for() {
    let config = DesktopConfig {
        size: "640x480".parse().unwrap(),
        ..DesktopConfig::default()
    };
    let desktop = Desktop::start(&config).unwrap();
    assert_eq!(desktop.size(), config.size);
    assert!(desktop.answers());
}

#[test]
fn server_and_window_manager_end_with_the_desktop() {
    let desktop = start();
    let inside = descendants(desktop.process().unwrap());
    assert_eq!(named(&inside, "Xvfb").len(), 1);
    // What it may ask of the kernel is filtered, and so is what its window manager may.
    for pid in &inside {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let outer = named(&[*pid], "bwrap").len() == 1;
        assert!(outer || status.contains("Seccomp:\t2"), "{status}");
    }
    assert_eq!(named(&inside, "openbox").len(), 1);
    drop(desktop);
    for pid in inside {
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}

#[test]
fn a_server_that_is_killed_is_an_error() {
    let desktop = start();
    let inside = descendants(desktop.process().unwrap());
    kill(named(&inside, "Xvfb")[0]);
    assert!(!desktop.answers());
    let again = Desktop::connect(desktop.address());
    assert!(matches!(
        again,
        Err(DesktopError::Gone(_) | DesktopError::Io { .. })
    ));
}

#[test]
fn nobody_gets_in_without_the_cookie() {
    let desktop = start();
    let agon_desktop::DisplayAddress::Socket { path, .. } = desktop.address().clone() else {
        panic!("a private desktop has a socket");
    };
    let cookie = agon_desktop::Cookie::random();
    let stranger = agon_desktop::DisplayAddress::Socket { path, cookie };
    assert!(matches!(
        Desktop::connect(&stranger),
        Err(DesktopError::Gone(_))
    ));
}

#[test]
fn a_warm_desktop_is_handed_out_once() {
    let pool = WarmPool::new(DesktopConfig::default(), 2).unwrap();
    pool.wait_until_full();
    assert_eq!(pool.ready(), 2);
    let taken: Vec<Desktop> = (0..4).map(|_| pool.take().unwrap()).collect();
    let processes: HashSet<_> = taken.iter().map(|desktop| desktop.process()).collect();
    assert_eq!(processes.len(), 4);
    drop(taken);
    pool.wait_until_full();
    let next = pool.take().unwrap();
    assert!(!processes.contains(&next.process()));
}

#[test]
fn a_warm_desktop_that_died_is_not_handed_out() {
    let pool = WarmPool::new(DesktopConfig::default(), 1).unwrap();
    pool.wait_until_full();
    let ours = descendants(std::process::id());
    for server in named(&ours, "Xvfb") {
        kill(server);
    }
    assert!(pool.take().unwrap().answers());
}

#[test]
fn heavy_desktops_in_a_row_leave_nothing_behind() {
    in_a_row(12);
}

#[test]
fn heavy_long_form_200_desktops_in_a_row_leave_nothing_behind() {
    in_a_row(200);
}

fn in_a_row(desktops: usize) {
    // What is made once: threads, buffers.
    drop(start());
    let files = open_files();
    let mut early = 0;
    for round in 0..desktops {
        drop(start());
        if round == desktops / 4 {
            early = resident();
        }
    }
    assert_eq!(descendants(std::process::id()), Vec::<u32>::new());
    assert_eq!(own_folders(), Vec::<PathBuf>::new());
    assert_eq!(open_files(), files);
    let late = resident();
    assert!(late <= early + 4, "{early} MiB became {late} MiB");
}

#[test]
fn heavy_desktops_at_once_are_all_usable() {
    at_once(4);
}

#[test]
fn heavy_long_form_16_desktops_at_once_are_all_usable() {
    at_once(16);
}

fn at_once(count: usize) {
    let starting: Vec<_> = (0..count).map(|_| std::thread::spawn(start)).collect();
    let desktops: Vec<Desktop> = starting
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let sockets: HashSet<_> = desktops.iter().map(Desktop::socket_folder).collect();
    assert_eq!(sockets.len(), count);
    for desktop in &desktops {
        let frame = desktop.screen().capture().unwrap();
        assert_eq!(frame.size(), desktop.size());
    }
}
