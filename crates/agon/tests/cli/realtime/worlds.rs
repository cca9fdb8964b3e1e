//! The world of a play: how it is compared with its beginning, and that it stands still after its end.

use agon::core::screen::ScreenMoment;
use agon::core::verdict::TurnEnd;
use agon::prelude::EventBody;
use agon::sandbox::WorkArchive;
use agon::sandbox::archive::Entry;
use serde_json::json;

use super::game::{Arena, Played};

/// A game that moves by itself: it counts in its title and in a file.
const COUNTING: &str = "
read -rsn1
n=0
while :; do n=$((n + 1)); echo $n >score; printf '\\033]0;GAME %s.\\007' $n; sleep 0.05; done
";

/// Says soon that it has finished, and takes its time to leave: a second is granted.
const SLOW_TO_LEAVE: &str = r#"
import json, sys, time
actions = [{"action": "wait", "seconds": 0.5}, {"action": "finish"}]
for line in sys.stdin:
    if json.loads(line)["type"] != "observation": continue
    print(json.dumps(actions.pop(0)), flush=True)
print("goodbye", file=sys.stderr, flush=True)
time.sleep(60)
"#;

fn counted(played: &Played) -> u32 {
    let finals = played.screens(ScreenMoment::Final);
    let windows = &finals[0].around.as_ref().unwrap().windows;
    let titles = windows.iter().map(|window| window.title());
    let count = |title: &str| title.strip_prefix("GAME ")?.strip_suffix('.')?.parse().ok();
    titles.filter_map(count).next().unwrap_or(0)
}

fn counting() -> serde_json::Value {
    json!({
        "setup_cmd": format!("cat >game.sh <<'END'{COUNTING}END"),
        "environment": { "apps": ["xterm -T GAME -geometry 40x10+0+0 -e bash game.sh"] },
        "realtime": { "ends": [{ "type": "window", "matches": "GAME [2-9][0-9]" }] },
        "checks": [{ "type": "window", "title": "GAME" }],
    })
}

#[test]
fn a_world_counts_no_further_when_the_play_is_over() {
    let arena = Arena::new();
    arena.bench.write("agent.py", SLOW_TO_LEAVE);
    arena.play("cmd:python3 agent.py", &counting()).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::Finished));
    let work = played.line.work.unwrap();
    let archive = arena.bench.reader().unpack_blob(&work).unwrap();
    let archive = WorkArchive::new(archive).unwrap();
    // Both begin at nothing.
    let score: u32 = match archive.find("score", 10).unwrap() {
        Some(Entry::File { content, .. }) => {
            let text = String::from_utf8_lossy(&content).into_owned();
            text.trim().parse().unwrap_or(0)
        }
        _ => 0,
    };
    // A terminal is a little behind its program. A second to leave would be twenty points.
    let shown = counted(&played);
    assert!(score.saturating_sub(shown) < 5, "{score} {shown}");

    let at = |wanted: &dyn Fn(&EventBody) -> bool| {
        let found = played.events.iter().position(|event| wanted(&event.body));
        found.unwrap()
    };
    let last =
        at(&|body| matches!(body, EventBody::Screen(record) if record.what == ScreenMoment::Final));
    let farewell = at(&|body| matches!(body, EventBody::Note(note) if note.contains("goodbye")));
    assert!(last < farewell, "{last} {farewell}");
}

#[test]
fn a_player_that_does_nothing_sees_the_world_end_and_stand_still() {
    let arena = Arena::new();
    arena.play("noop", &counting()).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));
    assert!(counted(&played) >= 20);
    let notes = played.notes();
    assert!(notes.is_empty(), "{notes:?}");
    let stats = played.stats();
    assert!(stats.world >= stats.played, "{stats:?}");
}

#[test]
fn where_nothing_moves_nothing_has_changed() {
    let arena = Arena::new();
    // Where the pointer is, and nothing else.
    let middle = [140, 100, 60, 60];
    let still = json!({
        "environment": {
            "apps": ["xterm -T GAME -geometry 15x4+0+0 -e sh -c 'stty -echo; exec sleep 1000'"],
        },
        "realtime": { "ends": [{ "type": "region_changed", "region": middle, "share": 0.001 }] },
        "limits": { "seconds": 2 },
        "checks": [{ "type": "region_changed", "region": middle, "share": 0.001, "changed": false }],
    });
    arena.play("noop", &still).expect(0);
    let played = arena.trial();
    assert_eq!(
        played.line.end,
        Some(TurnEnd::TimeLimit),
        "{:?}",
        played.line
    );
    assert!(!played.looks().is_empty());
}

#[test]
fn a_change_since_the_beginning_can_be_the_end() {
    let arena = Arena::new();
    let drawn = "
read -rsn1
clear
while read -rsn1; do echo xxxxxxxxxxxxxxx; done
";
    let changes = json!({
        "setup_cmd": format!("cat >game.sh <<'END'{drawn}END"),
        "environment": { "apps": ["xterm -T GAME -geometry 40x10+0+0 -e bash game.sh"] },
        "realtime": { "ends": [{ "type": "region_changed", "share": 0.01 }] },
        "checks": [{ "type": "region_changed", "share": 0.01 }],
    });
    arena.play("one-key:a", &changes).expect(0);
    let played = arena.trial();
    assert_eq!(
        played.line.end,
        Some(TurnEnd::WorldEnded),
        "{:?}",
        played.line
    );
}

#[test]
fn container_worlds_stand_still_after_their_end() {
    let host = std::env::var("DOCKER_HOST");
    host.unwrap_or_else(|_| {
        panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`")
    });
    let arena = Arena::new();
    let mut changes = counting();
    changes["environment"]["image"] = json!("agon-test-desktop:1");
    arena.play("noop", &changes).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));
    let notes = played.notes();
    assert!(notes.is_empty(), "{notes:?}");
}
