//! Windows behind very many others: what is there is found, and what can't be looked at is not gone.

use agon::core::verdict::Outcome;
use serde_json::json;

use super::room::{CLIENT, Room};

/// Opens windows above all others and stays. Says so when the window manager has them all in its list.
const CROWD: &str = r#"
import sys, time
def reply():
    while True:
        head = get(32)
        rest = get(4 * struct.unpack("<I", head[4:8])[0]) if head[0] == 1 else b""
        if head[0] == 1: return head, rest
count = int(sys.argv[1])
for number in range(1, count + 1):
    x.sendall(struct.pack("<BBHIIhhHHHHII", 1, 0, 8, base + number, root, 0, 0, 20, 20, 0, 1, 0, 0))
    x.sendall(struct.pack("<BxHI", 8, 2, base + number))
name = b"_NET_CLIENT_LIST"
x.sendall(struct.pack("<BBHHxx", 16, 0, 2 + len(name) // 4, len(name)) + name)
atom = struct.unpack("<I", reply()[0][8:12])[0]
listed = 0
while listed <= count:
    time.sleep(0.2)
    x.sendall(struct.pack("<BBHIIIII", 20, 0, 6, root, atom, 0, 0, 100000))
    listed = struct.unpack("<I", reply()[0][16:20])[0]
open("/tmp/opened", "w").close()
x.settimeout(None)
while x.recv(65536): pass
"#;

/// The window of the terminal must be gone, and is not.
fn played(count: u32) -> super::room::Played {
    let command = format!(
        "python3 /tmp/crowd.py {count} >/dev/null 2>&1 & while ! [ -e /tmp/opened ]; do sleep 0.1; done"
    );
    let actions = json!([
        { "action": "write", "path": "/tmp/crowd.py", "content": format!("{CLIENT}{CROWD}") },
        { "action": "run", "command": command },
    ]);
    let changes = json!({
        "actions": ["write", "run", "finish"],
        "environment": { "apps": ["xterm -T Settings -geometry 40x10+0+0"] },
        "limits": { "step": 100 },
        "checks": [{ "type": "window", "title": "Settings", "exists": false }],
    });
    Room::played(&actions, &changes)
}

#[test]
fn a_window_behind_300_others_is_still_there() {
    let line = played(300).line;
    assert_eq!(line.outcome, Outcome::Failed, "{line:?}");
    assert!(line.reason.contains("there is a window"), "{line:?}");
}
