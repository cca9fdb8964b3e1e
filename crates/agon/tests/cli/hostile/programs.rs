//! Hostile programs on the other end of the agent protocol, confined and not.

use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::{Value, json};

use super::arena::{Arena, Played, task};

const KINDS: [&str; 2] = ["cmd:", "cmd-host:"];

/// Plays one hostile task with an agent of either kind.
fn each(changes: &Value, misdeeds: &str, check: impl Fn(&Played) + Sync) {
    both(|kind| {
        let arena = Arena::new();
        arena.task("hostile", task(changes));
        check(&arena.play_agent(kind, misdeeds)[0]);
    });
}

/// Two runs at once: much of their time is spent waiting.
fn both(play: impl Fn(&str) + Sync) {
    std::thread::scope(|scope| {
        for kind in KINDS {
            let play = &play;
            scope.spawn(move || play(kind));
        }
    });
}

#[test]
fn an_agent_that_hangs_is_silent() {
    each(
        &json!({ "limits": { "step": 1 } }),
        "time.sleep(600)",
        |it| {
            it.ended(Outcome::Failed, TurnEnd::Silent);
        },
    );
}

#[test]
fn an_agent_that_hangs_after_its_work_has_done_it() {
    let misdeeds = "solve()\ntime.sleep(600)";
    // Enough for its interpreter to come up, too.
    each(&json!({ "limits": { "step": 10 } }), misdeeds, |it| {
        it.ended(Outcome::Passed, TurnEnd::Silent);
    });
}

#[test]
fn an_agent_that_crashes_at_once_has_done_nothing() {
    each(&json!({}), "raise RuntimeError('boom')", |it| {
        it.ended(Outcome::Failed, TurnEnd::Crashed);
        assert!(it.notes().contains("RuntimeError: boom"), "{}", it.notes());
    });
}

#[test]
fn an_agent_that_crashes_after_its_work_has_done_it() {
    each(
        &json!({}),
        "solve()\nhear()\nos.kill(os.getpid(), 9)",
        |it| {
            it.ended(Outcome::Passed, TurnEnd::Crashed);
        },
    );
}

#[test]
fn a_line_of_100_mb_is_garbage() {
    let misdeeds = "for _ in range(100): os.write(1, b'x' * 1_000_000)\nos.write(1, b'\\n')";
    each(&json!({}), misdeeds, |it| {
        it.ended(Outcome::Failed, TurnEnd::Garbage);
    });
}

#[test]
fn a_flood_of_lines_ends_with_the_steps() {
    let misdeeds = r#"
line = b'{"action":"think","thought":"more"}\n'
while True: os.write(1, line * 1000)
"#;
    each(&json!({ "limits": { "steps": 40 } }), misdeeds, |it| {
        it.ended(Outcome::Failed, TurnEnd::StepLimit);
        assert_eq!(it.line.steps, 40);
    });
}

#[test]
fn a_flood_of_long_lines_is_recorded_within_bounds() {
    let misdeeds = r#"
line = b'{"action":"finish","bad":"' + b"y" * 900_000 + b'"}\n'
while True: os.write(1, line)
"#;
    let changes = json!({ "limits": { "steps": 150 } });
    each(&changes, misdeeds, |it| {
        it.ended(Outcome::Failed, TurnEnd::StepLimit);
        assert_eq!(it.refused().len(), 150);
        assert!(it.refused().iter().all(|text| text.len() <= 2000));
    });
}

#[test]
fn a_flood_of_complaints_blocks_nobody_and_its_end_is_kept() {
    let misdeeds = r#"
for _ in range(100): os.write(2, b"e" * 1_000_000)
os.write(2, b"the last words")
solve()
hear()
say("finish")
"#;
    each(&json!({}), misdeeds, |it| {
        it.ended(Outcome::Passed, TurnEnd::Finished);
        let notes = it.notes();
        assert!(notes.contains("the last words"), "{notes}");
        assert!(notes.len() < 70_000, "{}", notes.len());
    });
}

#[test]
fn broken_json_ends_the_turn() {
    let misdeeds = r#"
lines = [
    b'{"action":',
    b'\xff\xfe{"action":"finish"}',
    b'[' * 100_000,
    b'{"action":"finish"} {"action":"finish"}',
    b'\x00' * 100,
]
solve()
hear()
os.write(1, lines[int(task["instruction"][-1])] + b"\n")
time.sleep(600)
"#;
    both(|kind| {
        let arena = Arena::new();
        for id in 0..5 {
            let instruction = format!("Hostile: send line {id}");
            let hostile = task(&json!({ "task": instruction }));
            arena.task(&format!("hostile{id}"), hostile);
        }
        for played in arena.play_agent(kind, misdeeds) {
            played.ended(Outcome::Passed, TurnEnd::Garbage);
        }
    });
}

#[test]
fn actions_that_are_not_allowed_are_refused_and_the_turn_goes_on() {
    let misdeeds = r#"
for action in [
    {"action": "write", "path": "greeting.txt", "content": "bye\n"},
    {"action": "click", "x": 1, "y": 1},
    {"action": "screenshot"},
]:
    hear()
    say(**action)
solve()
hear()
say("finish")
"#;
    each(&json!({ "actions": ["run", "finish"] }), misdeeds, |it| {
        it.ended(Outcome::Passed, TurnEnd::Finished);
        assert_eq!(it.refused().len(), 3);
        assert!(it.refused()[1].contains("click"), "{:?}", it.refused());
        assert!(it.seen()[1].contains("allowed are: run, finish"));
        assert_eq!(it.line.steps, 5);
    });
}

#[test]
fn unknown_actions_are_refused_and_the_turn_goes_on() {
    let misdeeds = r#"
lines = [
    '{"action":"fly"}', '[]', '"finish"', '42', 'null', '{}',
    '{"action":"run","command":1}', '{"action":"run","command":"true","cwd":"/"}',
    '{"action":"wait","seconds":-1}', '{"action":"wait","seconds":1e300}',
]
for line in lines:
    hear()
    os.write(1, line.encode() + b"\n")
solve()
hear()
say("finish")
"#;
    each(&json!({}), misdeeds, |it| {
        it.ended(Outcome::Passed, TurnEnd::Finished);
        assert_eq!(it.refused().len(), 10, "{:?}", it.refused());
    });
}

#[test]
fn odd_arguments_are_answered_and_the_turn_goes_on() {
    let misdeeds = r#"
long = "x" * 900_000
for path in ["", "/", "..", "a\0b", long, "a/" * 100_000, "/proc/1/mem", "/dev/zero", "/proc/kmsg"]:
    for action in [
        {"action": "read", "path": path},
        {"action": "write", "path": path, "content": "x"},
        {"action": "edit", "path": path, "old": "", "new": "x"},
    ]:
        hear()
        say(**action)
for command in ["a\0b", "\x03\x04\x1a", "echo " + long + " | wc -c", "'", "\\", "\n\n", "exit 300"]:
    hear()
    say("run", command=command, timeout=1e-9 if command == "'" else 5)
for line in [long, "C-\0", "C-c", "C-é", ""]:
    hear()
    say("run", command=line, input=True)
solve()
hear()
say("finish")
"#;
    let limits = json!({ "steps": 100, "command": 2, "quiet": 1 });
    each(&json!({ "limits": limits }), misdeeds, |it| {
        it.ended(Outcome::Passed, TurnEnd::Finished);
        assert_eq!(it.line.steps, 27 + 7 + 5 + 2);
    });
}

#[test]
fn waiting_does_not_outlast_the_turn() {
    let misdeeds = "solve()\nhear()\nsay('wait', seconds=1000)";
    each(&json!({ "limits": { "seconds": 10 } }), misdeeds, |it| {
        it.ended(Outcome::Passed, TurnEnd::TimeLimit);
    });
}

#[test]
fn an_agent_that_never_reads_is_heard() {
    let program = r#"
import os, time
os.write(1, b'{"action":"run","command":"echo hello > greeting.txt"}\n')
os.write(1, b'{"action":"run","command":"yes | head -c 100000"}\n' * 20)
os.write(1, b'{"action":"finish"}\n')
time.sleep(600)
"#;
    both(|kind| {
        let arena = Arena::new();
        arena.task("hostile", task(&json!({})));
        arena.play_program(kind, program)[0].ended(Outcome::Passed, TurnEnd::Finished);
    });
}

#[test]
fn an_agent_that_closes_its_streams_has_left() {
    each(
        &json!({}),
        "solve()\nhear()\nos.close(1)\ntime.sleep(600)",
        |it| {
            it.ended(Outcome::Passed, TurnEnd::Left);
        },
    );
    let deaf = "os.close(0)\nsay('run', command='echo hello > greeting.txt')\nsay('finish')";
    each(&json!({}), deaf, |it| {
        it.ended(Outcome::Passed, TurnEnd::Finished);
    });
}

#[test]
fn children_of_an_agent_end_with_it() {
    let misdeeds = r#"
for _ in range(3):
    if os.fork() == 0:
        time.sleep(600)
os._exit(0)
"#;
    each(&json!({ "limits": { "step": 1 } }), misdeeds, |it| {
        // Where they hold its output open, it takes the step's time to see that nobody speaks.
        assert!(matches!(it.line.end, Some(TurnEnd::Left | TurnEnd::Silent)));
        assert_eq!(it.line.outcome, Outcome::Failed);
    });
}

#[test]
fn heavy_a_confined_agent_exhausts_only_its_own_sandbox() {
    let arena = Arena::new();
    // A bomb has all processes that it may have in less than a second, and burns the machine from then on.
    for (id, seconds) in [("bomb", 4), ("fill", 30), ("hog", 30)] {
        let hostile = json!({ "task": format!("Hostile: {id}"), "limits": { "step": seconds } });
        arena.task(id, task(&hostile));
    }
    let misdeeds = r#"
what = task["instruction"].split()[-1]
if what == "bomb":
    while True:
        try: os.fork()
        except OSError: time.sleep(0.1)
if what == "fill":
    for path in ["/work/x", "/tmp/x", os.path.expanduser("~/x"), "/dev/shm/x"]:
        with open(path, "wb", buffering=0) as file:
            try:
                while True: file.write(b"x" * 1_000_000)
            except OSError: pass
    solve()
    hear()
    say("finish")
if what == "hog":
    solve()
    hear()
    kept = []
    while True: kept.append(b"x" * 50_000_000)
"#;
    let played = arena.play_agent("cmd:", misdeeds);
    let [bomb, fill, hog] = &played[..] else {
        panic!("{} trials", played.len())
    };
    // Copies of the agent may answer in between, or nobody does.
    assert_eq!(bomb.line.outcome, Outcome::Failed);
    fill.ended(Outcome::Passed, TurnEnd::Finished);
    // It is killed, unless it is still at it when its step is over.
    assert_eq!(hog.line.outcome, Outcome::Passed);
    assert!(matches!(
        hog.line.end,
        Some(TurnEnd::Crashed | TurnEnd::Silent)
    ));
}
