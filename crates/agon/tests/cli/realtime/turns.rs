//! Agents that take turns in a world that does not wait.

use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::{Value, json};

use super::game::Arena;

/// Points, one by one.
/// Not held, so that how many actions fit into a game does not depend on when its end is noticed.
fn keys(count: usize) -> Vec<Value> {
    vec![json!({ "action": "key", "keys": "a", "hold": 0 }); count]
}

#[test]
fn they_play_until_the_world_has_ended() {
    let arena = Arena::new();
    let mut solution = keys(10);
    // Ended by the game, not by itself.
    solution.push(json!({ "action": "wait", "seconds": 50 }));
    arena
        .play("oracle", &json!({ "solution": solution }))
        .expect(0);
    let played = arena.trial();
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));
    assert_eq!(played.strokes("a"), (10, 10));
    let stats = played.stats();
    assert_eq!((stats.actions, stats.steps), (11, 11));
    assert!(stats.latency.is_some());
}

#[test]
fn an_action_may_be_late_by_the_clock_of_the_task() {
    let arena = Arena::new();
    let changes = json!({
        "realtime": { "clock": { "latency": "100ms" } },
        "solution": keys(3),
    });
    arena.play("oracle", &changes).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::Finished));
    let latency = played.stats().latency.unwrap();
    assert!(latency.p50 >= 0.1, "{latency:?}");
}

#[test]
fn the_world_waits_where_its_clock_says_so() {
    let arena = Arena::new();
    let agent = "import json, sys, time\n\
                 for line in sys.stdin:\n\
                 \x20   message = json.loads(line)\n\
                 \x20   if message['type'] != 'observation': continue\n\
                 \x20   time.sleep(0.2)\n\
                 \x20   print(json.dumps({'action': 'key', 'keys': 'a'}), flush=True)\n";
    arena.bench.write("agent.py", agent);
    let changes = json!({ "realtime": { "clock": { "paused": "50ms" } } });
    arena.play("cmd:python3 agent.py", &changes).expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));
    let stats = played.stats();
    // It thought for that long at least, and the world saw none of it.
    assert!(
        stats.hidden >= 0.2 * (stats.steps as f64 - 1.0),
        "{stats:?}"
    );
}

#[test]
fn the_key_that_stops_everything_is_not_theirs() {
    let arena = Arena::new();
    let mut solution = vec![json!({ "action": "key", "keys": "F10" })];
    solution.extend(keys(10));
    solution.push(json!({ "action": "wait", "seconds": 50 }));
    arena
        .play("oracle", &json!({ "solution": solution }))
        .expect(0);
    let played = arena.trial();
    assert_eq!(played.line.end, Some(TurnEnd::WorldEnded));
    assert_eq!(played.strokes("F10"), (0, 0));
}
