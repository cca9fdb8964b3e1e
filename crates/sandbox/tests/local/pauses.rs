//! Everybody stands still and goes on, whatever they are doing.

use std::time::Duration;

use agon_sandbox::{Exec, Sandbox, SandboxError};

use crate::ground::{Ground, ground, sh, text};

/// Counts as fast as it can, with a line for each number, until it is ended.
const COUNT: &str = "i=0; while :; do i=$((i + 1)); echo $i; done";

/// Begins something in the background that outlives its command.
async fn begin(ground: &Ground, script: &str) {
    let line = format!("({script}) >/dev/null 2>&1 </dev/null &");
    ground.sh(&line).await;
}

async fn size(sandbox: &dyn Sandbox, path: &str) -> usize {
    let content = sandbox.read(path, 1 << 30).await;
    content.map_or(0, |content| content.len())
}

/// Waits until a file has grown beyond `from`: the deadline is that of the runner.
async fn grows(sandbox: &dyn Sandbox, path: &str, from: usize) {
    while size(sandbox, path).await <= from {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_counter_stands_still_and_goes_on() {
    let ground = ground().await;
    let sandbox = ground.sandbox.as_ref();
    for file in ["a", "b"] {
        begin(&ground, &format!("{{ {COUNT}; }} >{file}")).await;
        grows(sandbox, file, 0).await;
    }
    for _ in 0..5 {
        sandbox.pause().await.unwrap();
        let before = [size(sandbox, "a").await, size(sandbox, "b").await];
        // What takes part in the race takes its time.
        for number in 0..50 {
            sandbox
                .write("event", &vec![b'x'; number * 100])
                .await
                .unwrap();
        }
        let after = [size(sandbox, "a").await, size(sandbox, "b").await];
        assert_eq!(before, after);
        sandbox.resume().await.unwrap();
        grows(sandbox, "a", after[0]).await;
        grows(sandbox, "b", after[1]).await;
    }
}

#[tokio::test]
async fn forks_and_threads_are_stopped_too() {
    let ground = ground().await;
    let sandbox = ground.sandbox.as_ref();
    let forks = "while :; do sh -c 'echo x >>forks'; done";
    let threads = "python3 -c 'import threading\ndef f():\n  o = open(\"threads\", \"a\", buffering=1)\n  \
                   while True: o.write(\"x\\n\")\nfor _ in range(4): threading.Thread(target=f).start()'";
    begin(&ground, forks).await;
    begin(&ground, threads).await;
    let files = ["forks", "threads"];
    let mut last = [0, 0];
    for _ in 0..5 {
        for (file, last) in files.iter().zip(last) {
            grows(sandbox, file, last).await;
        }
        sandbox.pause().await.unwrap();
        let sizes =
            |sandbox| async move { [size(sandbox, "forks").await, size(sandbox, "threads").await] };
        let before = sizes(sandbox).await;
        for _ in 0..50 {
            sandbox.write("event", b"x").await.unwrap();
        }
        last = sizes(sandbox).await;
        assert_eq!(before, last);
        sandbox.resume().await.unwrap();
    }
}

#[tokio::test]
async fn a_paused_sandbox_starts_nobody_and_can_be_frozen() {
    let mut ground = ground().await;
    begin(&ground, &format!("{{ {COUNT}; }} >count")).await;
    grows(ground.sandbox.as_ref(), "count", 0).await;
    ground.sandbox.pause().await.unwrap();
    // Twice is as good as once.
    ground.sandbox.pause().await.unwrap();
    let exec = Exec::shell("echo no", Duration::from_secs(30));
    let refused = ground.sandbox.exec(&exec).await.unwrap_err();
    assert!(
        matches!(&refused, SandboxError::Denied(why) if why.contains("paused")),
        "{refused}"
    );

    let counted = size(ground.sandbox.as_ref(), "count").await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    let found = frozen.work.find("count", 1).unwrap();
    let Some(agon_sandbox::archive::Entry::File { size, .. }) = found else {
        panic!("{found:?}")
    };
    assert_eq!(size, counted as u64);
    // Nobody is left to be paused, and programs run again.
    assert_eq!(text(&ground.sh("echo yes").await.stdout.bytes), "yes\n");
}

#[tokio::test]
async fn whoever_was_stopped_before_stays_stopped() {
    let ground = ground().await;
    let sandbox = ground.sandbox.as_ref();
    begin(
        &ground,
        &format!("{{ {COUNT}; }} >count & echo $! >pid; wait"),
    )
    .await;
    grows(sandbox, "count", 0).await;
    sh(
        sandbox,
        "kill -STOP $(cat pid); until grep -q '^State:.T' /proc/$(cat pid)/status; do :; done",
    )
    .await;
    let state = "sed -n 's/^State:.//p' /proc/$(cat pid)/status";
    sandbox.pause().await.unwrap();
    sandbox.resume().await.unwrap();
    assert_eq!(text(&ground.sh(state).await.stdout.bytes), "T (stopped)\n");
}

#[tokio::test]
async fn a_shell_does_not_take_its_children_for_suspended() {
    let ground = ground().await;
    let sandbox = ground.sandbox.as_ref();
    // With job control, a stopped child is a suspended job, and the shell goes on without it.
    let jobs = "bash -mc 'while :; do bash -c \"for i in 1 2 3; do echo x >>ticks; done\"; \
                [ $? = 0 ] || echo suspended >>jobs; done'";
    begin(&ground, jobs).await;
    let mut last = 0;
    for _ in 0..30 {
        grows(sandbox, "ticks", last).await;
        sandbox.pause().await.unwrap();
        last = size(sandbox, "ticks").await;
        sandbox.resume().await.unwrap();
    }
    assert_eq!(size(sandbox, "jobs").await, 0);
}
