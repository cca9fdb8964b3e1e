//! How a play in real time ends, and what is left of it.

use agon::core::FaultClass;
use agon::core::screen::ScreenMoment;
use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::json;

use super::game::{Arena, task};

#[test]
fn a_player_plays_until_the_world_has_ended() {
    let arena = Arena::new();
    arena.play("one-key:a", &json!({})).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));

    let looks = played.looks();
    let (last, before) = looks.split_last().unwrap();
    assert!(last.holds && before.iter().all(|look| !look.holds));
    for look in &looks {
        arena.bench.reader().picture(&look.picture).unwrap();
    }

    assert_eq!(played.screens(ScreenMoment::Ready).len(), 1);
    assert!(!played.screens(ScreenMoment::Frame).is_empty());
    let finals = played.screens(ScreenMoment::Final);
    let around = finals[0].around.as_ref().unwrap();
    assert!(
        around
            .windows
            .iter()
            .any(|window| window.title() == "GAME OVER")
    );
    assert_eq!(around.apps.len(), 1);
    assert_eq!(around.apps[0].exit, None);

    let (down, up) = played.strokes("a");
    assert!(down >= 10 && down == up, "{down} {up}");
    let stats = played.stats();
    assert!(stats.actions >= 10 && stats.steps >= 10, "{stats:?}");
    assert!(stats.played > 0.0 && stats.hidden == 0.0, "{stats:?}");
}

#[test]
fn the_oracle_plays_the_player_of_the_solution() {
    let arena = Arena::new();
    arena.play("oracle", &json!({})).expect(0);
    assert_eq!(arena.trial().line.outcome, Outcome::Passed);
}

#[test]
fn time_runs_out_for_who_does_nothing() {
    let arena = Arena::new();
    let short = json!({ "limits": { "seconds": 1 } });
    arena.play("noop", &short).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.outcome, Outcome::Failed);
    assert_eq!(played.line.end, Some(TurnEnd::TimeLimit));
    assert_eq!(played.screens(ScreenMoment::Final).len(), 1);
}

/// Presses F10 as a person would, when the game has three points.
const PANIC: &str = r#"
import os, socket, struct, time
while not (os.path.exists("score") and open("score").read().strip() >= "3"): time.sleep(0.01)
data = open(os.environ["XAUTHORITY"], "rb").read()[-16:]
name = b"MIT-MAGIC-COOKIE-1"
x = socket.socket(socket.AF_UNIX)
x.connect("/tmp/.X11-unix/X4242")
x.sendall(struct.pack("<BxHHHHxx", 0x6c, 11, 0, len(name), len(data)) + name + b"\0\0" + data)
def get(count):
    got = b""
    while len(got) < count: got += x.recv(count - len(got))
    return got
get(4 * struct.unpack("<H", get(8)[6:8])[0])
x.sendall(struct.pack("<BxHHxx", 98, 4, 5) + b"XTEST\0\0\0")
xtest = get(32)[9]
for kind in (2, 3):
    x.sendall(struct.pack("<BBHBBxxII8xhh7xB", xtest, 2, 9, kind, 76, 0, 0, 0, 0, 0))
time.sleep(60)
"#;

#[test]
fn an_operator_stops_the_play_and_it_is_graded_as_it_stands() {
    let arena = Arena::new();
    let app = "xterm -geometry 40x10+0+0 -e bash -c 'python3 panic.py & exec bash game.sh 100000'";
    let mut task = task(&json!({ "environment": { "apps": [app] } }));
    let setup = format!(
        "{}\ncat >panic.py <<'END'{PANIC}END",
        task["setup_cmd"].as_str().unwrap()
    );
    task["setup_cmd"] = json!(setup);
    arena.play("one-key:a", &task).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::Operator));
    assert_eq!(played.line.outcome, Outcome::Failed);
    assert!(
        played.line.reason.contains("panic key"),
        "{}",
        played.line.reason
    );
    // The play ends with the press: the release may come after the end of the record.
    assert_eq!(played.strokes("F10").0, 1);
    assert_eq!(played.screens(ScreenMoment::Final).len(), 1);
}

#[test]
fn a_game_that_does_not_begin_is_no_failure_of_the_agent() {
    let arena = Arena::new();
    let wrong = json!({ "realtime": { "begin": "x" } });
    arena.play("one-key:a", &wrong).expect(1);
    let fault = arena.trial().line.fault.unwrap();
    assert_eq!(fault.class, FaultClass::Setup);
    assert!(
        fault.message.contains("had ended before it began"),
        "{fault}"
    );
}

#[test]
fn a_window_that_is_not_there_is_named() {
    let arena = Arena::new();
    let wrong = json!({ "realtime": { "window": "Tetris" } });
    arena.play("one-key:a", &wrong).expect(1);
    let fault = arena.trial().line.fault.unwrap();
    assert_eq!(fault.class, FaultClass::Setup);
    assert!(fault.message.contains("Tetris"), "{fault}");
}

#[test]
fn a_world_that_stands_still_while_its_player_thinks_is_played_to_its_end() {
    let arena = Arena::new();
    let paused = json!({ "realtime": { "clock": { "paused": "50ms" } } });
    arena.play("one-key:a", &paused).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));
    assert!(played.stats().hidden > 0.0, "{:?}", played.stats());
}
