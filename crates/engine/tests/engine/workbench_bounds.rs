//! What an agent can do to its own tools: it gets an answer, in time, and never a fault.

use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Action, Environment, EnvironmentKind, Limits, Observation, Seconds};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::workbench::{Bench, is_error, limits};

/// Sends a signal to every program that starts from now on, at once: pids rise.
fn against_everybody_new(signal: &str) -> Value {
    let code = format!(
        r#"
import subprocess
enemy = subprocess.Popen(["python3", "-c", """
import os, signal
print("ready", flush=True)
while True:
    for pid in range(os.getpid() + 1, os.getpid() + 40):
        try:
            os.kill(pid, signal.{signal})
        except OSError:
            pass
"""], stdout=subprocess.PIPE)
enemy.stdout.readline()"#
    );
    json!({ "action": "cell", "code": code })
}

fn wait(command: &str, seconds: f64) -> Value {
    json!({ "action": "run", "command": command, "wait": seconds })
}

/// An action that may take a second more, and must not take much longer than that.
async fn at_the_end_of_the_turn(bench: &mut Bench, action: Value) -> Observation {
    let action: Action = serde_json::from_value(action).unwrap();
    let deadline = Instant::now() + Duration::from_secs(1);
    let done = bench
        .workbench
        .perform(bench.sandbox.as_ref(), &action, deadline);
    let late = Duration::from_secs(45);
    timeout(late, done).await.unwrap().unwrap()
}

#[tokio::test]
async fn who_lets_no_shell_open_is_told_so() {
    let limits = Limits {
        start: Seconds::whole(2),
        ..limits()
    };
    for signal in ["SIGKILL", "SIGSTOP"] {
        let mut bench = Bench::with(limits.clone(), None).await;
        let begun = bench.act(against_everybody_new(signal)).await;
        assert_eq!(begun.kind, ObservationKind::Output, "{begun:?}");
        for _ in 0..3 {
            // Which answer it is depends on who is faster; a fault is none.
            bench.run("echo up").await;
        }
    }
}

#[tokio::test]
async fn a_wait_leaves_a_command_running_whatever_its_limit() {
    let limits = Limits {
        command: Seconds::whole(1),
        ..limits()
    };
    let mut bench = Bench::with(limits, None).await;
    let left = bench
        .act(wait("until [ -e go ]; do sleep 0.05; done; echo went", 1.5))
        .await;
    assert!(left.running, "{left:?}");
    assert!(left.text.contains("after 1.5 s"), "{left:?}");
    // As that text says: an empty command waits on.
    let more = bench.run("").await;
    assert!(more.running, "{more:?}");
    assert!(more.text.contains("without new output"), "{more:?}");
    bench.sandbox.write("go", b"").await.unwrap();
    let ended = bench.act(wait("", 50.0)).await;
    assert_eq!(ended.text, "went\n");
    // The limit is still there for who does not wait.
    let killed = bench.run("while :; do echo x; sleep 0.05; done").await;
    assert!(
        !killed.running && killed.text.contains("killed after 1 s"),
        "{killed:?}"
    );
}

#[tokio::test]
async fn why_a_command_was_left_running_is_the_truth() {
    let limits = Limits {
        quiet: Seconds::whole(40),
        patience: Some(Seconds::millis(300)),
        ..limits()
    };
    let mut bench = Bench::with(limits, None).await;
    let left = bench.run("while :; do echo x; sleep 0.05; done").await;
    assert!(left.running, "{left:?}");
    assert!(left.text.contains("after 0.3 s"), "{left:?}");
    assert!(!left.text.contains("without new output"), "{left:?}");
}

#[tokio::test]
async fn no_tool_holds_up_the_end_of_the_turn() {
    let mut bench = Bench::new().await;
    let deaf = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)";
    let held = json!({ "action": "cell", "code": deaf });
    let seen = at_the_end_of_the_turn(&mut bench, held).await;
    assert!(seen.text.contains("did not answer in time"), "{seen:?}");

    bench.act(against_everybody_new("SIGSTOP")).await;
    for action in [
        json!({ "action": "run", "command": "echo up" }),
        json!({ "action": "browse", "code": "noop(1)" }),
    ] {
        at_the_end_of_the_turn(&mut bench, action).await;
    }
}

#[tokio::test]
async fn a_folder_that_can_not_be_listed_says_why() {
    let mut environment = Environment::of_kind(EnvironmentKind::Local);
    environment.processes = 20;
    let mut bench = Bench::local(environment, limits(), None).await;
    bench.run("mkdir folder").await;
    let full = "import os, time\nmade = 0\ntry:\n  while True:\n    if os.fork() == 0:\n      \
                time.sleep(86040)\n    made += 1\nexcept OSError: print('full')";
    let full = bench.act(json!({ "action": "cell", "code": full })).await;
    assert!(full.text.contains("full"), "{full:?}");
    let seen = bench.read("folder").await;
    is_error(&seen, "is a directory");
    is_error(&seen, "cannot start `sh`");
}

#[tokio::test]
async fn whether_a_file_is_there_is_no_matter_of_words() {
    let mut bench = Bench::new().await;
    let name = "No such file";
    bench
        .run(&format!("echo kept >'{name}'; chmod 200 '{name}'"))
        .await;
    let create = json!({ "action": "write", "path": name, "content": "lost", "create": true });
    is_error(&bench.act(create).await, "Permission denied");
    let shown = bench
        .run(&format!("chmod 600 '{name}'; cat '{name}'"))
        .await;
    assert_eq!(shown.text, "kept\n");
    bench.write("file", "x").await;
    is_error(&bench.write("file/below", "x").await, "cannot write");
}
