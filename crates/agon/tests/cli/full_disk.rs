//! A run folder on a disk that is full: the run ends at once and says so, no trial is retried, and the
//! same run goes on when there is space.

use std::process::{Command, Stdio};

use agon::core::verdict::Outcome;
use serde_json::json;

use crate::support::{Bench, Called};

/// In a mount namespace of its own: a disk of 1 MiB, a run on it, the same run with more space. What is left is
/// copied to where it can be read.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=1m full small || exit 99
"$agon" run suite --out small/run --agent oracle --retries 2 --workers 1 >first.out 2>first.err
echo $? >first.status
cp small/run/trials.jsonl first.jsonl
mount -o remount,size=64m small || exit 99
"$agon" run --resume small/run >second.out 2>second.err
echo $? >second.status
cp -r small/run run
"#;

#[test]
fn a_full_disk_ends_the_run_at_once_with_2_and_it_goes_on_when_there_is_space() {
    let bench = Bench::new();
    let task = json!({
        "task": "Write much.",
        "checks": [{ "type": "file", "path": "much", "matches": "." }],
        "solution": [{ "action": "run", "command": "head -c 3000000 /dev/urandom > much" }],
    });
    bench.suite(&[("a", &task.to_string()), ("b", &task.to_string())]);
    std::fs::create_dir(bench.path("small")).unwrap();
    let mut unshare = Command::new("unshare");
    // Root needs no user namespace for a mount; everybody else does.
    if !rustix::process::geteuid().is_root() {
        unshare.arg("--map-root-user");
    }
    let output = unshare
        .args(["--mount", "sh", "-c", SCRIPT])
        .env("agon", env!("CARGO_BIN_EXE_agon"))
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Called(output).expect(0);
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    let said = read("first.err");
    assert_eq!(read("first.status"), "2\n", "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("agon run --resume"), "{said}");
    // No attempt has ended, so none was tried again.
    assert_eq!(read("first.jsonl"), "");
    assert_eq!(read("second.status"), "0\n", "{}", read("second.err"));
    let trials = bench.trials();
    assert_eq!(trials.len(), 2, "{trials:?}");
    for line in trials {
        assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
        assert!(!line.retried, "{line:?}");
    }
}
