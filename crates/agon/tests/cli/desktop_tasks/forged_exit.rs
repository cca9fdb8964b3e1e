//! Agents that write into the memory of a task's program, to make it look as if it had ended well.

use agon::core::verdict::Outcome;
use serde_json::json;

use super::room::Room;

/// Writes `exit_group(0)` where the sleeping program will go on, and wakes it.
const FORGE: &str = r#"
import os, signal, subprocess, time
pid = int(subprocess.run(["pgrep", "-f", "^sleep 1001"], stdout=subprocess.PIPE).stdout)
where = int(open(f"/proc/{pid}/syscall").read().split()[-1], 16)
with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
    memory.seek(where - 2)
    memory.write(bytes.fromhex("31ffb8e70000000f05"))
os.kill(pid, signal.SIGSTOP)
time.sleep(0.1)
os.kill(pid, signal.SIGCONT)
"#;

#[test]
fn an_exit_status_can_not_be_forged_by_writing_into_the_app() {
    let app = format!("{} -e sleep 1000 & exec sleep 1001", super::room::TERMINAL);
    let task = |command: &str, status: i32| {
        let actions = json!([
            { "action": "write", "path": "/tmp/forge.py", "content": FORGE },
            { "action": "run", "command": command },
            { "action": "wait", "seconds": 0.5 },
        ]);
        let changes = json!({
            "actions": ["write", "run", "wait", "finish"],
            "environment": { "apps": [app] },
            "checks": [{ "type": "process", "app": "sleep 1001", "exit_status": status }],
        });
        Room::played(&actions, &changes).line
    };
    let forged = task("python3 /tmp/forge.py", 0);
    assert_eq!(forged.outcome, Outcome::Failed, "{forged:?}");
    assert!(!forged.tainted, "{forged:?}");
    assert!(forged.reason.contains("runs"), "{forged:?}");
    let ended = task("pkill -TERM -f '^sleep 1001'", 143);
    assert_eq!(ended.outcome, Outcome::Passed, "{ended:?}");
    assert!(!ended.tainted, "{ended:?}");
}
