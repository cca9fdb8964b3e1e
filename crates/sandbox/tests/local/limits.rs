//! Agents that take all they can get.

use std::time::Duration;

use agon_core::quantity::ByteSize;
use agon_sandbox::{Enforcement, Exec, Exit, Provider, SandboxError};

use crate::ground::{ground, provider, request, sh, text};
use crate::refused::refused;

#[tokio::test]
async fn a_fork_bomb_is_contained_and_ends_with_the_freeze() {
    let mut ground = ground().await;
    ground.sandbox.write("kept", b"x").await.unwrap();
    let bomb = Exec::shell("b() { b | b & }; b; sleep 1000", Duration::from_secs(2));
    // With all processes taken even its own start may fail: both are fine.
    let _ = ground.sandbox.exec(&bomb).await;
    let bomb = Exec::new(
        [
            "python3",
            "-c",
            "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
        ],
        Duration::from_secs(2),
    );
    let _ = ground.sandbox.exec(&bomb).await;
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert!(frozen.work.find("kept", 10).unwrap().is_some());
    assert_eq!(ground.sh("echo calm").await.exit, Exit::Code(0));
}

#[tokio::test]
async fn a_bomb_that_still_runs_is_frozen() {
    let mut ground = ground().await;
    let bomb =
        "import os\nopen('ready', 'w')\nwhile True:\n  try: os.fork()\n  except OSError: pass";
    let bomb = Exec::new(["python3", "-c", bomb], Duration::from_secs(60));
    let bomb = ground.sandbox.spawn(&bomb).await.unwrap();
    while ground.sandbox.read("ready", 1).await.is_err() {}
    ground.sandbox.freeze().await.unwrap();
    assert_eq!(bomb.exit.await.unwrap(), Exit::Signal(9));
    assert_eq!(
        text(&ground.sh("ps -e | wc -l").await.stdout.bytes).trim(),
        "5"
    );
}

/// Counts their threads.
const LIVING_PYTHONS: &str = "cat /proc/[0-9]*/task/*/stat | grep -c '^[0-9]* (python3) [^ZX]'";

/// More than the init may have descriptors.
#[tokio::test]
async fn of_a_crowd_nobody_survives_a_time_out() {
    let provider = provider();
    let mut request = request();
    request.environment.memory = ByteSize::mib(2048);
    request.environment.processes = 4000;
    let sandbox = provider.prepare(&request).await.unwrap();
    let crowd = "import os, time\nfor _ in range(2500):\n  \
                 if not os.fork(): time.sleep(1000)\ntime.sleep(1000)";
    let exec = Exec::new(["python3", "-c", crowd], Duration::from_secs(4));
    let done = sandbox.exec(&exec).await.unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    let left = sh(sandbox.as_ref(), LIVING_PYTHONS).await;
    assert_eq!(text(&left.stdout.bytes), "0\n");
}

#[tokio::test]
async fn a_process_without_its_first_thread_does_not_survive_a_time_out() {
    let ground = ground().await;
    let fled = "import ctypes, threading, time\n\
                threading.Thread(target=time.sleep, args=[1000]).start()\n\
                ctypes.CDLL(None).syscall(60, 0)";
    let exec = Exec::shell(
        &format!("python3 -c '{fled}' & sleep 1000"),
        Duration::from_secs(2),
    );
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    let left = ground.sh(LIVING_PYTHONS).await;
    assert_eq!(text(&left.stdout.bytes), "0\n");
}

#[tokio::test]
async fn a_full_working_folder_can_be_frozen() {
    let mut ground = ground().await;
    let done = ground
        .sh("cat /dev/zero > big; echo $?; ls -l big | cut -d' ' -f5")
        .await;
    assert_eq!(text(&done.stdout.bytes).lines().last(), Some("33554432"));
    let said = refused(ground.sandbox.as_ref(), "echo x > more").await;
    assert!(said.contains("No space left"), "{said}");
    let error = ground.sandbox.write("more", b"content").await.unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error}");
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert!(frozen.work.bytes() > 32 << 20);
}

#[tokio::test]
async fn files_without_content_cannot_make_an_endless_archive() {
    let mut ground = ground().await;
    let done = ground
        .sh("for i in $(seq 200); do truncate -s 30M hole$i || exit; done")
        .await;
    assert_eq!(done.exit, Exit::Code(0), "{done:?}");
    let huge = ground.sh("truncate -s 1T huge; echo $?").await;
    assert_eq!(text(&huge.stdout.bytes), "153\n", "by the signal XFSZ");
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert!(frozen.work.bytes() < 100 << 20, "{}", frozen.work.bytes());
    assert!(frozen.work.find("hole1", 1).unwrap().is_some());
}

#[tokio::test]
async fn a_memory_hog_dies_and_the_sandbox_survives() {
    let provider = provider();
    let mut request = request();
    request.environment.memory = ByteSize::mib(64);
    let mut sandbox = provider.prepare(&request).await.unwrap();
    let hog = "x = []\nwhile True: x.append(bytearray(b'x' * 1000000))";
    let exec = Exec::new(["python3", "-c", hog], Duration::from_secs(60));
    match sandbox.exec(&exec).await {
        Ok(done) => {
            assert!(
                matches!(done.exit, Exit::Signal(9) | Exit::Code(1)),
                "{:?}",
                done.exit
            );
            sandbox.freeze().await.unwrap();
        }
        Err(error) => assert!(matches!(error, SandboxError::OutOfMemory), "{error}"),
    }
}

#[tokio::test]
async fn private_folders_in_memory_are_limited() {
    let ground = ground().await;
    for folder in ["/tmp", "/home/agent", "/run", "/dev/shm"] {
        // No single file is too large, and there would be memory enough for all.
        let fill =
            format!("for i in {{1..10}}; do head -c 20M /dev/zero > {folder}/big$i || exit; done");
        let said = refused(ground.sandbox.as_ref(), &fill).await;
        assert!(said.contains("No space left"), "{folder}: {said}");
        let removed = ground.sh(&format!("rm {folder}/big*")).await;
        assert_eq!(removed.exit, Exit::Code(0), "{folder}");
    }
}

#[tokio::test]
async fn the_description_names_what_enforces() {
    let description = provider().describe().await.unwrap();
    assert!(description.starts_with("bubblewrap "), "{description}");
    assert!(
        description.ends_with(&Enforcement::detect().to_string()),
        "{description}"
    );
}
