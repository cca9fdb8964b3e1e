//! What dies under a case in a container: the container, its X server, its programs; in each phase. The
//! right fault, played again on a fresh one, and nothing left behind.

use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use agon::core::FaultClass;
use agon::core::verdict::{Outcome, TurnEnd};
use agon::store::{RunReader, TrialLine};
use serde_json::{Value, json};

use super::container::{docker, docker_if, in_image};
use super::room::{Room, moment, write_done, written};

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// Where a run has its temporary folders.
const FOLDERS: &str = "tmp";

/// A run that goes on beside the test.
pub(super) struct Live {
    room: Room,
    run: String,
    child: Child,
}

impl Live {
    /// Played by the solution.
    fn start(changes: &Value, more: &[&str]) -> Self {
        let by: Vec<_> = ["oracle"].iter().chain(more).copied().collect();
        Self::played_by(changes, &by, "")
    }

    /// Played by an agent with further arguments, on a configuration.
    pub(super) fn played_by(changes: &Value, agent: &[&str], config: &str) -> Self {
        let actions =
            json!([written(), write_done(), moment(), { "action": "wait", "seconds": 3 }]);
        let room = Room::new();
        room.task("a", &actions, &in_image(changes));
        let run = format!("faults-{}", std::process::id());
        room.bench.write("config.toml", config);
        let mut args = vec!["run", "suite", "--out", &run, "--agent"];
        args.extend(agent);
        std::fs::create_dir(room.bench.path(FOLDERS)).unwrap();
        let mut agon = room.bench.agon(&args);
        let child = agon.env("TMPDIR", room.bench.path(FOLDERS)).spawn();
        let child = child.unwrap();
        Self { room, run, child }
    }

    /// Those that run, without those that nobody has taken yet.
    fn containers(&self) -> Vec<String> {
        let label = format!("label=agon.run={}", self.run);
        let format = "{{.ID}} {{.Label \"agon.trial\"}}";
        let listed = docker(&["ps", "--filter", &label, "--format", format]);
        let taken = listed.lines().filter(|line| !line.ends_with("(warm)"));
        taken
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect()
    }

    /// The only container, as soon as a program with these words runs in it.
    #[track_caller]
    fn running(&self, words: &str) -> String {
        let deadline = Instant::now() + HANG;
        loop {
            for id in self.containers() {
                let top = ["top", &id, "-eo", "pid,args"];
                let running = |line: &str| {
                    let program = line.trim_start().split_once(' ');
                    program.is_some_and(|(_, args)| args.trim_start().starts_with(words))
                };
                // It may be gone by now.
                if docker_if(&top).is_some_and(|top| top.lines().any(running)) {
                    return id;
                }
            }
            assert!(Instant::now() < deadline, "`{words}` was not started");
        }
    }

    /// Its exit status and its lines; nothing of it is left.
    #[track_caller]
    pub(super) fn end(self) -> (Option<i32>, Vec<TrialLine>) {
        let output: Output = self.child.wait_with_output().unwrap();
        let label = format!("label=agon.run={}", self.run);
        let left = docker(&["ps", "--all", "--filter", &label, "--format", "{{.Names}}"]);
        assert_eq!(left, "", "containers are left");
        let folders = std::fs::read_dir(self.room.bench.path(FOLDERS)).unwrap();
        let folders: Vec<_> = folders.map(|folder| folder.unwrap().path()).collect();
        assert!(folders.is_empty(), "{folders:?}");
        let reader = RunReader::open(&self.room.bench.path(&self.run)).unwrap();
        (output.status.code(), reader.trials().unwrap())
    }

    /// The first attempt ended by a fault of this class, the second one passed.
    #[track_caller]
    fn mended(self, class: FaultClass) {
        let (status, trials) = self.end();
        assert_eq!(status, Some(0), "{trials:?}");
        assert_eq!(trials.len(), 2, "{trials:?}");
        let fault = trials[0].fault.as_ref().unwrap();
        assert_eq!(fault.class, class, "{fault}");
        assert_eq!(trials[1].outcome, Outcome::Passed, "{:?}", trials[1]);
        assert!(trials[1].retried && trials[1].is_final);
    }
}

fn slow_set_up() -> Value {
    json!({ "setup_cmd": "sleep 6.25" })
}

fn slow_check() -> Value {
    json!({ "checks": [
        { "type": "command_output", "command": "sleep 6.25; cat done.txt", "equals": "done\n" },
    ] })
}

#[test]
fn container_killed_in_the_set_up_is_a_fault_and_the_case_is_played_again() {
    let live = Live::start(&slow_set_up(), &["--retries", "1"]);
    docker(&["kill", &live.running("sleep 6.25")]);
    live.mended(FaultClass::Environment);
}

#[test]
fn container_killed_in_the_turn_is_a_fault_and_the_case_is_played_again() {
    let live = Live::start(&json!({}), &["--retries", "1"]);
    let record = format!("{}/trials/test/a/1.1/events.jsonl", live.run);
    let record = live.room.bench.path(&record);
    let deadline = Instant::now() + HANG;
    while !std::fs::read_to_string(&record).is_ok_and(|text| text.contains("echo done")) {
        assert!(Instant::now() < deadline, "the turn did not begin");
    }
    docker(&["kill", &live.running("xterm")]);
    live.mended(FaultClass::Environment);
}

#[test]
fn container_killed_in_grading_is_a_fault_and_the_case_is_played_again() {
    let live = Live::start(&slow_check(), &["--retries", "1"]);
    docker(&["kill", &live.running("sleep 6.25")]);
    live.mended(FaultClass::Check);
}

/// The processes of the X server, ended as by a fault of its own.
fn end_x_server(container: &str) {
    // The container may go along with it, and its last words with the container.
    docker_if(&["exec", container, "pkill", "-9", "Xvfb"]);
}

#[test]
fn container_x_server_that_dies_in_the_set_up_is_a_fault_and_the_case_is_played_again() {
    let live = Live::start(&slow_set_up(), &["--retries", "1"]);
    end_x_server(&live.running("sleep 6.25"));
    live.mended(FaultClass::Environment);
}

#[test]
fn container_x_server_that_dies_in_the_turn_ends_the_turn_and_what_was_done_counts() {
    let live = Live::start(&json!({}), &["--retries", "1"]);
    let record = format!("{}/trials/test/a/1.1/events.jsonl", live.run);
    let record = live.room.bench.path(&record);
    let deadline = Instant::now() + HANG;
    while !std::fs::read_to_string(&record).is_ok_and(|text| text.contains("\"seconds\":3")) {
        assert!(Instant::now() < deadline, "the turn did not begin");
    }
    end_x_server(&live.running("xterm"));
    let (status, trials) = live.end();
    assert_eq!(status, Some(0), "{trials:?}");
    assert_eq!(trials.len(), 1, "{trials:?}");
    assert_eq!(trials[0].end, Some(TurnEnd::ScreenLost));
    assert_eq!(trials[0].outcome, Outcome::Passed, "{:?}", trials[0]);
}

#[test]
fn container_programs_that_die_at_the_start_are_a_fault_of_the_case() {
    let changes = json!({ "environment": { "apps": ["echo the disk is full >&2; exit 3"] } });
    let (status, trials) = Live::start(&changes, &["--retries", "1"]).end();
    assert_eq!(status, Some(1));
    assert_eq!(trials.len(), 2, "{trials:?}");
    for line in trials {
        let fault = line.fault.unwrap();
        assert_eq!(fault.class, FaultClass::Setup, "{fault}");
        assert!(fault.message.contains("the disk is full"), "{fault}");
    }
}

#[test]
fn container_of_a_live_run_is_not_cleaned_away() {
    let live = Live::start(&json!({}), &["--retries", "0", "--epochs", "3"]);
    live.running("xterm");
    let before = live.containers();
    live.room.bench.call(&["clean"]).expect(0);
    let after = docker(&["ps", "--all", "--no-trunc", "--format", "{{.ID}}"]);
    for id in before {
        assert!(after.contains(&id), "{id} is gone: {after}");
    }
    let (status, trials) = live.end();
    assert_eq!(status, Some(0), "{trials:?}");
    assert_eq!(trials.len(), 3);
    for line in trials {
        assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    }
}

#[test]
fn container_heavy_eight_cases_at_once_are_all_played_to_their_end() {
    // No container serves two of them.
    let changes = json!({ "setup_cmd": "test ! -e /tmp/used && touch /tmp/used" });
    let many = ["--epochs", "16", "--workers", "8", "--retries", "0"];
    let (status, trials) = Live::start(&changes, &many).end();
    assert_eq!(status, Some(0), "{trials:?}");
    assert_eq!(trials.len(), 16);
    for line in trials {
        assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    }
}

/// A run with desktops that were started ahead, stopped by a signal.
fn stopped(signal: &str) -> Live {
    let mut live = Live::start(&json!({}), &["--epochs", "5", "--workers", "1"]);
    let label = format!("label=agon.run={}", live.run);
    let ahead = || {
        let format = "{{.Label \"agon.trial\"}}";
        let listed = docker(&["ps", "--filter", &label, "--format", format]);
        listed.lines().filter(|name| *name == "(warm)").count()
    };
    let deadline = Instant::now() + HANG;
    while ahead() < 2 {
        assert!(Instant::now() < deadline, "none was started ahead");
    }
    let kill = Command::new("kill")
        .args([signal, &live.child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    live.child.wait().unwrap();
    live
}

#[test]
fn container_heavy_desktops_started_ahead_go_with_their_run() {
    let (status, _) = stopped("-INT").end();
    assert_eq!(status, Some(130));
}

#[test]
fn container_heavy_desktops_started_ahead_of_a_killed_run_are_cleaned_away() {
    let live = stopped("-KILL");
    let mut clean = live.room.bench.agon(&["clean"]);
    clean.env("TMPDIR", live.room.bench.path(FOLDERS));
    assert!(clean.status().unwrap().success());
    live.end();
}
