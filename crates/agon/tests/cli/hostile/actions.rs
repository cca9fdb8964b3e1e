//! Hostile actions inside of the task's sandbox. They are played as solutions, so that every command
//! is sent whatever came of the one before.

use std::fs;

use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::{Value, json};

use super::arena::{Arena, Played, commands};

const SOLVE: &str = "echo hello > greeting.txt";

/// Plays one hostile task.
fn play(lines: &[&str], changes: &Value) -> (Arena, Played) {
    let arena = Arena::new();
    arena.task("hostile", commands(lines, changes));
    let played = arena.play_solutions().remove(0);
    (arena, played)
}

#[test]
fn heavy_fork_bombs_hit_nobody_else() {
    let arena = Arena::new();
    let few = json!({
        "environment": { "processes": 64 }, "limits": { "command": 2, "quiet": 2 },
    });
    arena.task("bash", commands(&[SOLVE, ":(){ :|:& };:"], &few));
    let sessions = "python3 -c '
import os
while True:
    try: os.fork(); os.setsid()
    except OSError: pass
' MARKER";
    arena.task(
        "python",
        commands(&[SOLVE, sessions, "echo still there"], &few),
    );
    for played in arena.play_solutions() {
        played.ended(Outcome::Passed, TurnEnd::Finished);
    }
}

#[test]
fn a_full_disk_is_the_agents_own() {
    let arena = Arena::new();
    // All but the last end by themselves, as soon as the machine lets them.
    let [small, endless] = [60, 2].map(|seconds| {
        json!({
            "environment": { "disk": "8MiB" }, "limits": { "command": seconds, "quiet": seconds },
        })
    });
    let fill =
        "for to in /work /tmp ~ /dev/shm /run; do cat /dev/zero > $to/full; done 2>/dev/null";
    arena.task("cleaned", commands(&[fill, "rm /work/full", SOLVE], &small));
    arena.task("full", commands(&[fill, SOLVE], &small));
    let names = "i=0; while : > $i; do i=$((i+1)); done 2>/dev/null";
    arena.task("names", commands(&[SOLVE, names], &endless));
    let played = arena.play_solutions();
    let [cleaned, full, names] = &played[..] else {
        panic!("{} trials", played.len())
    };
    cleaned.ended(Outcome::Passed, TurnEnd::Finished);
    full.ended(Outcome::Failed, TurnEnd::Finished);
    // What is beyond the size of an archive is not kept, and may have been the file.
    assert_eq!(names.line.end, Some(TurnEnd::Finished));
}

#[test]
fn heavy_memory_is_taken_from_nobody_else() {
    let arena = Arena::new();
    let small = json!({ "environment": { "memory": "64MiB", "disk": "8MiB" } });
    let hog = "python3 -c 'x = [b\"x\" * 10_000_000 for _ in range(1000)]'; echo status $?";
    arena.task("hog", commands(&[hog, SOLVE], &small));
    let shell = format!("exec {hog}");
    arena.task("shell", commands(&[&shell, SOLVE], &small));
    let played = arena.play_solutions();
    assert!(
        played[0].seen()[1].contains("status 137"),
        "{:?}",
        played[0].seen()
    );
    for played in played {
        played.ended(Outcome::Passed, TurnEnd::Finished);
    }
}

#[test]
fn a_flood_of_output_is_cut_and_counted() {
    let limits = json!({ "command": 5, "quiet": 5, "output": "1MiB", "view": "4KiB" });
    let (_arena, played) = play(&["yes MARKER", SOLVE], &json!({ "limits": limits }));
    played.ended(Outcome::Passed, TurnEnd::Finished);
    let seen = played.seen()[1];
    assert!(
        seen.contains("bytes left out") && seen.contains("killed after 5 s"),
        "{seen}"
    );
    assert!(seen.len() < 5 << 10, "{}", seen.len());
    let log = fs::metadata(played.folder.join("logs/shell.log")).unwrap();
    assert_eq!(log.len(), 1 << 20);
    assert!(
        played.notes().contains("over the limit were not kept"),
        "{}",
        played.notes()
    );
}

#[test]
fn output_that_is_no_text_is_kept_whole() {
    let bytes = br"\377\376\000\200caf\351\033[31m";
    let command = format!("printf '{}'", String::from_utf8_lossy(bytes));
    let (_arena, played) = play(&[&command, SOLVE], &json!({}));
    played.ended(Outcome::Passed, TurnEnd::Finished);
    assert!(
        played.seen()[1].contains("caf\u{fffd}"),
        "{:?}",
        played.seen()
    );
    let log = fs::read(played.folder.join("logs/shell.log")).unwrap();
    let wanted = b"\xff\xfe\x00\x80caf\xe9\x1b[31m";
    assert!(
        log.windows(wanted.len()).any(|part| part == wanted),
        "{log:?}"
    );
}

#[test]
fn what_the_agent_leaves_running_is_dead_before_grading() {
    let survivor = "setsid nohup bash -c 'trap \"\" HUP TERM INT; while :; do echo x >> ticks; \
                    [ -e done ] && echo late > greeting.txt; done' MARKER > /dev/null 2>&1 &";
    let still = "a=$(cksum < ticks); sleep 0.3; [ \"$a\" = \"$(cksum < ticks)\" ] && echo still; \
                 cat /proc/[0-9]*/comm | grep -c bash";
    let checks = json!({ "checks": [
        { "type": "file", "path": "greeting.txt", "equals": "hello\n" },
        { "type": "command_output", "command": still, "equals": "still\n0\n" },
    ] });
    let (_arena, played) = play(&[survivor, "sleep 0.3", SOLVE], &checks);
    played.ended(Outcome::Passed, TurnEnd::Finished);
}

#[test]
fn a_shell_that_is_killed_again_and_again_is_no_fault() {
    let arena = Arena::new();
    arena.task(
        "all",
        commands(
            &[SOLVE, "kill -9 -1", "echo back", "kill -9 $$", "exit 3"],
            &json!({}),
        ),
    );
    // Every new shell is killed, or stopped, as soon as it is there.
    // A sandbox starts within this too, however busy the machine is.
    let limits = json!({ "limits": { "start": 10, "command": 2, "quiet": 1 } });
    for signal in ["KILL", "STOP"] {
        let hunter = format!(
            "setsid python3 -c '
import glob, os, signal
while True:
    for name in glob.glob(\"/proc/[0-9]*/comm\"):
        try:
            if open(name).read() == \"bash\\n\": os.kill(int(name.split(\"/\")[2]), signal.SIG{signal})
        except OSError: pass
' MARKER > /dev/null 2>&1 & sleep 1"
        );
        let lines = [SOLVE, &hunter, "echo one", "echo two"];
        arena.task(&format!("hunted_{signal}"), commands(&lines, &limits));
    }
    // Bash opens its history when it starts.
    let history = ["mkfifo ~/.bash_history", SOLVE, "exit", "echo again"];
    arena.task("history", commands(&history, &limits));
    for played in arena.play_solutions() {
        played.ended(Outcome::Passed, TurnEnd::Finished);
    }
}

/// Many sandboxes, because what can go wrong takes signals that arrive together, and happens once.
#[test]
fn no_storm_of_signals_brings_the_sandbox_down() {
    let arena = Arena::new();
    for number in 0..16 {
        let storm = "for signal in {1..64}; do kill -$signal 1; done 2>/dev/null";
        arena.task(
            &format!("storm{number}"),
            commands(&[storm, SOLVE], &json!({})),
        );
    }
    for played in arena.play_solutions() {
        played.ended(Outcome::Passed, TurnEnd::Finished);
    }
}
