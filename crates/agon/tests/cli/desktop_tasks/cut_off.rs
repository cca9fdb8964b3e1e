//! Agents that cut us off from their own screen: every X client has that power. It ends their turn and
//! is never a fault, or a failing agent could fault its way out of the score.

use agon::core::verdict::{Outcome, TurnEnd};
use agon::prelude::{Event, EventBody};
use serde_json::json;

use super::room::{CLIENT, Room};

/// Nobody else is served as long as this one lives.
const GRAB_SERVER: &str = r"
x.sendall(struct.pack('<BxH', 36, 1))
import time
time.sleep(600)
";

/// Throws out every other client, by the first numbers that each has for its things.
const KILL_CLIENTS: &str = r"
for client in range(1, 64):
    for thing in range(16):
        number = (client << 21) + thing
        if number & ~0x1fffff != base:
            x.sendall(struct.pack('<BxHI', 113, 2, number))
";

/// Takes all the memory that the server may have, in ever smaller pieces, and asks for more until it dies.
const FILL_MEMORY: &str = r"
import threading
def drain():
    try:
        while x.recv(65536): pass
    except OSError: pass
threading.Thread(target=drain, daemon=True).start()
x.settimeout(None)
number = base
for side in (8192, 2048, 512, 128, 32, 8, 1):
    for _ in range(2000):
        number += 1
        x.sendall(struct.pack('<BBHIIHH', 53, 24, 4, number, root, side, side))
for _ in range(1500000):
    number += 1
    x.sendall(struct.pack('<BBHIIhhHHHHII', 1, 0, 8, number, root, 0, 0, 1, 1, 0, 0, 0, 0))
";

fn play(attack: &str) -> super::room::Played {
    play_when(attack, "python3 /tmp/attack.py >/dev/null 2>&1 & sleep 1")
}

/// `before` is the command that attacks.
fn play_when(attack: &str, before: &str) -> super::room::Played {
    let room = Room::new();
    let actions = json!([
        { "action": "write", "path": "done.txt", "content": "done\n" },
        { "action": "write", "path": "/tmp/attack.py", "content": format!("{CLIENT}{attack}") },
        { "action": "run", "command": before },
        { "action": "click", "x": 10, "y": 10 },
        { "action": "screenshot" },
    ]);
    let allowed = json!({ "actions": ["write", "run", "click", "screenshot", "finish"] });
    room.task("a", &actions, &allowed);
    room.play(&[]).expect(0);
    room.trial("a")
}

#[test]
fn a_server_that_serves_only_the_agent_is_no_fault() {
    let line = play(GRAB_SERVER).line;
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    assert_eq!(line.end, Some(TurnEnd::ScreenLost));
}

#[test]
fn being_thrown_out_by_the_agent_is_no_fault() {
    let line = play(KILL_CLIENTS).line;
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    assert_eq!(line.end, Some(TurnEnd::ScreenLost));
}

#[test]
fn a_server_driven_out_of_memory_by_the_agent_is_no_fault() {
    // Comes back when the server is gone: its socket is closed then.
    let played = play_when(FILL_MEMORY, "python3 /tmp/attack.py >/dev/null 2>&1; true");
    let line = played.line;
    assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
    assert_eq!(line.end, Some(TurnEnd::ScreenLost));
    let told = |event: &Event| matches!(&event.body, EventBody::Note(note) if note.contains("its X server"));
    assert!(played.events.iter().any(told), "{:?}", played.events);
}
