//! Programs: status, streams, time-outs, trees.

use std::time::Duration;

use agon_sandbox::{Exec, Exit, SandboxError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::ground::{ground, text};
use crate::refused::refused;

#[tokio::test]
async fn status_and_streams_come_back() {
    let ground = ground().await;
    let done = ground.sh("echo out; echo err >&2; exit 7").await;
    assert_eq!(done.exit, Exit::Code(7));
    assert_eq!(text(&done.stdout.bytes), "out\n");
    assert_eq!(text(&done.stderr.bytes), "err\n");
    let done = ground.sh("kill -TERM $$").await;
    assert_eq!(done.exit, Exit::Signal(15));
}

#[tokio::test]
async fn input_environment_and_folder_reach_the_program() {
    let ground = ground().await;
    let mut exec = Exec::shell(
        "cat; echo $GREETING; pwd; id -un; echo $HOME",
        Duration::from_secs(30),
    );
    exec.stdin = vec![b'x'; 200_000];
    exec.cwd = "/tmp".to_owned();
    exec.env
        .insert("GREETING".to_owned(), "hello there".to_owned());
    let done = ground.sandbox.exec(&exec).await.unwrap();
    let (input, rest) = done.stdout.bytes.split_at(200_000);
    assert!(input.iter().all(|&byte| byte == b'x'));
    assert_eq!(text(rest), "hello there\n/tmp\nagent\n/home/agent\n");
}

#[tokio::test]
async fn the_environment_names_the_folder() {
    let ground = ground().await;
    ground.sh("mkdir sub").await;
    for (cwd, expected) in [("/tmp", "/tmp\n"), ("sub", "/work/sub\n")] {
        let mut exec = Exec::new(["printenv", "PWD"], Duration::from_secs(30));
        exec.cwd = cwd.to_owned();
        let done = ground.sandbox.exec(&exec).await.unwrap();
        assert_eq!(text(&done.stdout.bytes), expected);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_survive() {
    let ground = ground().await;
    let done = ground.sh(r"printf '\377\000\200a'").await;
    assert_eq!(done.stdout.bytes, [0xff, 0, 0x80, b'a']);
}

#[tokio::test]
async fn a_flood_is_cut_in_the_middle() {
    let ground = ground().await;
    let mut exec = Exec::shell(
        "printf start; head -c 50000000 /dev/zero; printf end",
        Duration::from_secs(60),
    );
    exec.keep = 1000;
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!(done.exit, Exit::Code(0));
    assert!(done.stdout.bytes.starts_with(b"start") && done.stdout.bytes.ends_with(b"end"));
    assert_eq!(done.stdout.bytes.len(), 1000);
    assert_eq!(done.stdout.omitted, 50_000_008 - 1000);
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree_and_keeps_what_was_said() {
    let ground = ground().await;
    let mut exec = Exec::shell(
        "echo before; setsid sleep 1001 & (sleep 1002 & sleep 1003) & \
         setsid sh -c 'sleep 1004 & sleep 1005 & exit' ; sleep 1006",
        Duration::from_secs(1),
    );
    exec.stdin = b"x".to_vec();
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    assert_eq!(text(&done.stdout.bytes), "before\n");
    assert_eq!(ground.count("sleep 100").await, Some(0));
}

#[tokio::test]
async fn a_timeout_leaves_other_programs_alone() {
    let ground = ground().await;
    let started = ground
        .sh("setsid sleep 2001 >/dev/null 2>&1 & echo ok")
        .await;
    assert_eq!(started.exit, Exit::Code(0));
    let other = Exec::shell("sleep 2002", Duration::from_secs(30));
    let other = ground.sandbox.spawn(&other).await.unwrap();
    let exec = Exec::shell("sleep 2003", Duration::from_millis(300));
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    let left = ground.sh("ps -eo args | grep '^sleep 200' | sort").await;
    assert_eq!(text(&left.stdout.bytes), "sleep 2001\nsleep 2002\n");
    drop(other);
}

#[tokio::test]
async fn what_runs_in_the_background_neither_blocks_nor_dies() {
    let ground = ground().await;
    // It writes after its reader has returned, and would die of a closed pipe.
    let app = "(read line < gate; echo noise; echo noise; touch alive; sleep 1000) & echo up";
    let done = ground.sh(&format!("mkfifo gate; {app}")).await;
    assert_eq!(
        (done.exit, text(&done.stdout.bytes)),
        (Exit::Code(0), "up\n".to_owned())
    );
    let done = ground
        .sh("echo go > gate; while [ ! -e alive ]; do :; done; echo seen")
        .await;
    assert_eq!(text(&done.stdout.bytes), "seen\n");
}

#[tokio::test]
async fn the_verdict_channel_is_descriptor_three() {
    let ground = ground().await;
    let mut exec = Exec::shell("echo spoken; echo verdict >&3", Duration::from_secs(30));
    exec.verdict_channel = true;
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!(text(&done.verdict), "verdict\n");
    assert_eq!(text(&done.stdout.bytes), "spoken\n");

    exec.argv[2] = "head -c 1000000 /dev/zero >&3".into();
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!((done.exit, done.verdict.len()), (Exit::Code(0), 64 << 10));

    exec.stdin = b"nonce\n".to_vec();
    exec.argv[2] =
        "read -r nonce; python3 -c 'import os; os.lseek(0, 0, 0)' || cat; echo $nonce".into();
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert_eq!(text(&done.stdout.bytes), "nonce\n", "it is read once");

    let without = refused(ground.sandbox.as_ref(), "echo x >&3").await;
    assert!(without.contains("Bad file descriptor"), "{without}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_the_callers_mistake() {
    let ground = ground().await;
    let exec = Exec::new(["no-such-program"], Duration::from_secs(60));
    let error = ground.sandbox.exec(&exec).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Denied(why) if why.contains("no-such-program")),
        "{error}"
    );
    let long = Exec::new(
        ["echo".to_owned(), "x".repeat(1 << 20)],
        Duration::from_secs(60),
    );
    let error = ground.sandbox.exec(&long).await.unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error}");
    assert_eq!(ground.sh("true").await.exit, Exit::Code(0));
}

#[tokio::test]
async fn many_programs_run_at_once() {
    let ground = ground().await;
    let runs = (0..20).map(|number| {
        let sandbox = &ground.sandbox;
        async move {
            let exec = Exec::shell(&format!("echo {number}"), Duration::from_secs(30));
            let done = sandbox.exec(&exec).await.unwrap();
            assert_eq!(text(&done.stdout.bytes), format!("{number}\n"));
        }
    });
    futures_util::future::join_all(runs).await;
}

#[tokio::test]
async fn a_piped_program_talks_and_dies_when_dropped() {
    let ground = ground().await;
    let exec = Exec::shell("exec cat", Duration::from_secs(30));
    let mut piped = ground.sandbox.spawn(&exec).await.unwrap();
    piped.stdin.write_all(b"ping").await.unwrap();
    let mut answer = [0; 4];
    piped.stdout.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"ping");
    drop(piped.stdin);
    assert_eq!(piped.exit.await.unwrap(), Exit::Code(0));

    let exec = Exec::shell("exec sleep 3001", Duration::from_secs(30));
    let piped = ground.sandbox.spawn(&exec).await.unwrap();
    drop(piped);
    ground.wait_for_end("sleep 3001").await;
}

#[tokio::test]
async fn a_cancelled_exec_leaves_nothing_running() {
    let ground = ground().await;
    let exec = Exec::shell("touch here; exec sleep 4001", Duration::from_secs(60));
    {
        let run = ground.sandbox.exec(&exec);
        tokio::pin!(run);
        let seen = ground.sh("while [ ! -e here ]; do :; done");
        tokio::select! {
            _ = &mut run => panic!("it cannot have ended"),
            _ = seen => {}
        }
    }
    ground.wait_for_end("sleep 4001").await;
}
