//! Desktops that are lost in the middle, and runs that are: a fault within its deadline, nothing left
//! behind, and the same command goes on.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use agon::core::FaultClass;
use agon::core::verdict::Outcome;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use super::room::{Room, moment, write_done, written};
use crate::killed::ground::{Ground, Started};
use crate::support::Called;

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// One process of a run.
struct Process {
    pid: Pid,
    name: String,
    handle: OwnedFd,
}

/// All processes below `root`, wherever they have hidden themselves.
fn below(root: u32) -> Vec<Process> {
    let mut known = vec![root];
    let mut found = Vec::new();
    let pids: Vec<i32> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let parent = |pid: i32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.split(' ').nth(1)?.parse().ok()
    };
    let parents: Vec<(i32, u32)> = pids
        .into_iter()
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    while let Some(above) = known.pop() {
        for &(child, _) in parents.iter().filter(|(_, parent)| *parent == above) {
            known.push(child.cast_unsigned());
            let pid = Pid::from_raw(child).unwrap();
            let name = fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
            if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
                found.push(Process {
                    pid,
                    name: name.trim().to_owned(),
                    handle,
                });
            }
        }
    }
    found
}

impl Process {
    #[track_caller]
    fn ends(&self) {
        let limit = Timespec::try_from(HANG).unwrap();
        let ended = poll(
            &mut [PollFd::new(&self.handle, PollFlags::IN)],
            Some(&limit),
        );
        assert_eq!(ended, Ok(1), "still there: {} {:?}", self.name, self.pid);
    }
}

/// Lets a run go on until its first attempt does what has `words` in its record.
#[track_caller]
fn wait_for(run: &mut Started, room: &Room, words: &str) {
    let record = room.bench.path("run/trials/test/a/1.1/events.jsonl");
    let deadline = Instant::now() + HANG;
    while !fs::read_to_string(&record).is_ok_and(|text| text.contains(words)) {
        assert!(Instant::now() < deadline, "{words} was not recorded");
        assert!(!run.ends_within(Duration::from_millis(10)), "it has ended");
    }
}

/// A drag that takes its time, then what passes.
fn slow_task(room: &Room) {
    let path = [json!({ "x": 250, "y": 200 }), json!({ "x": 300, "y": 230 })];
    let drag = json!({ "action": "drag", "path": path, "seconds": 3 });
    let actions: Vec<Value> = vec![written(), drag, write_done(), moment()];
    room.task("a", &json!(actions), &json!({}));
}

/// The X server gets a signal while the first attempt drags.
fn x_server_gets(signal: Signal) {
    let room = Room::new();
    let mut ground = Ground::new(&room.bench);
    slow_task(&room);
    let mut run = ground.start(&["--agent", "oracle", "--retries", "1"]);
    wait_for(&mut run, &room, "\"drag\"");
    let processes = below(run.child.id());
    let servers: Vec<_> = processes.iter().filter(|it| it.name == "Xvfb").collect();
    assert_eq!(servers.len(), 1);
    kill_process(servers[0].pid, signal).unwrap();
    let (status, said) = run.end();
    assert!(status.success(), "{said:?}");
    for process in &processes {
        process.ends();
    }
    ground.check_clean();
    let trials = room.bench.trials();
    assert_eq!(trials.len(), 2, "{trials:?}");
    let fault = trials[0].fault.as_ref().unwrap();
    assert_eq!(fault.class, FaultClass::Environment, "{fault}");
    assert!(fault.message.contains("desktop is gone"), "{fault}");
    assert_eq!(trials[1].outcome, Outcome::Passed, "{:?}", trials[1]);
    assert!(trials[1].retried && trials[1].is_final);
}

#[test]
fn a_killed_x_server_is_a_fault_and_the_trial_is_played_on_a_fresh_one() {
    x_server_gets(Signal::KILL);
}

#[test]
fn a_stopped_x_server_is_a_fault_in_time() {
    x_server_gets(Signal::STOP);
}

#[test]
fn a_killed_run_leaves_no_process_and_goes_on_later() {
    let room = Room::new();
    let mut ground = Ground::new(&room.bench);
    slow_task(&room);
    let args = ["--agent", "oracle", "--epochs", "3", "--workers", "2"];
    let mut run = ground.start(&args);
    wait_for(&mut run, &room, "\"drag\"");
    let processes = below(run.child.id());
    for name in ["Xvfb", "openbox", "xterm"] {
        assert!(processes.iter().any(|it| it.name == name), "{name}");
    }
    run.child.kill().unwrap();
    assert_eq!(run.end().0.signal(), Some(9));
    for process in &processes {
        process.ends();
    }
    let mut clean = room.bench.agon(&["clean", "--json"]);
    let cleaned = clean.env("TMPDIR", &ground.temporary).output().unwrap();
    let cleaned = Called(cleaned).expect(0).json();
    let left = cleaned["local"].as_array().unwrap();
    let processes: Vec<_> = left
        .iter()
        .filter(|it| it.as_str().unwrap().starts_with("process"))
        .collect();
    assert!(processes.is_empty(), "{cleaned}");
    ground.check_clean();

    room.bench.call(&["run", "--resume", "run"]).expect(0);
    let mut trials = room.bench.trials();
    trials.retain(|line| line.is_final);
    assert_eq!(trials.len(), 3, "{trials:?}");
    for line in trials {
        assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    }
}

#[test]
fn a_played_run_is_graded_again_without_a_screen() {
    let room = Room::new();
    room.task("a", &json!([write_done(), moment()]), &json!({}));
    room.play(&[]).expect(0);
    assert_eq!(room.trial("a").line.outcome, Outcome::Passed);
    let other = json!({ "checks": [{ "type": "file", "path": "done.txt", "equals": "more\n" }] });
    room.task("a", &json!([write_done(), moment()]), &other);
    let again = ["run", "--resume", "run", "--mode", "validate-only"];
    room.bench.call(&again).expect(0);
    let played = room.trial("a");
    assert_eq!(played.line.outcome, Outcome::Failed, "{:?}", played.line);
}
