//! Programs and files in a container.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::digest::Digest;
use agon_core::files::{FileEntry, FileTree};
use agon_sandbox::session::{SessionOptions, ShellSession, Timeouts};
use agon_sandbox::{Exec, Exit, Sandbox, SandboxError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::fixture::{run, sandbox, shell, text};

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn streams_status_input_folder_and_environment() {
    let sandbox = sandbox().await;
    let output = run(sandbox.as_ref(), "echo out; echo err >&2; exit 5").await;
    assert_eq!(output.exit, Exit::Code(5));
    assert_eq!(output.stdout.bytes, b"out\n");
    assert_eq!(output.stderr.bytes, b"err\n");

    let mut exec = Exec::new(["sh", "-c", "pwd; echo $NAME; cat"], LONG);
    exec.cwd = "/tmp".to_owned();
    exec.env.insert("NAME".to_owned(), "a b=c".to_owned());
    exec.stdin = vec![b'x'; 300_000];
    let output = sandbox.exec(&exec).await.unwrap();
    assert!(output.stdout.bytes.starts_with(b"/tmp\na b=c\nxxx"));
    assert_eq!(output.stdout.bytes.len(), "/tmp\na b=c\n".len() + 300_000);

    let missing = sandbox
        .exec(&Exec::new(["no-such-program"], LONG))
        .await
        .unwrap();
    assert_eq!(missing.exit, Exit::Code(127));
    assert!(String::from_utf8_lossy(&missing.stderr.bytes).contains("not found"));
    sandbox.destroy().await;
}

#[tokio::test]
async fn only_head_and_tail_of_a_flood_are_kept() {
    let sandbox = sandbox().await;
    let mut exec = shell("echo first; yes | head -c 5000000; echo last");
    exec.keep = 1000;
    let output = sandbox.exec(&exec).await.unwrap();
    assert_eq!(output.stdout.bytes.len(), 1000);
    assert_eq!(output.stdout.omitted, 5_000_011 - 1000);
    assert!(output.stdout.bytes.starts_with(b"first\n"));
    assert!(output.stdout.bytes.ends_with(b"last\n"));
    sandbox.destroy().await;
}

#[tokio::test]
async fn the_verdict_comes_over_its_own_descriptor() {
    let sandbox = sandbox().await;
    let mut exec = shell("echo fake; echo noise >&2; echo pass >&3");
    exec.verdict_channel = true;
    let output = sandbox.exec(&exec).await.unwrap();
    assert_eq!(output.verdict, b"pass\n");
    let noise = String::from_utf8(output.stderr.bytes).unwrap();
    assert!(noise.contains("fake\n") && noise.contains("noise\n"));
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_time_out_kills_the_tree_and_those_who_left_it() {
    let sandbox = sandbox().await;
    let mut exec = shell("echo begun; (setsid sleep 86001 &); sleep 86002 & sleep 86003");
    exec.timeout = Duration::from_secs(2);
    let output = sandbox.exec(&exec).await.unwrap();
    assert_eq!(output.exit, Exit::TimedOut);
    assert_eq!(output.stdout.bytes, b"begun\n");
    assert_eq!(sleepers(sandbox.as_ref()).await, "0\n");
    sandbox.destroy().await;
}

async fn sleepers(sandbox: &dyn Sandbox) -> String {
    text(sandbox, "pgrep -c '^sleep$' || true").await
}

#[tokio::test]
async fn a_program_that_closes_its_output_is_waited_for() {
    let sandbox = sandbox().await;
    let output = run(sandbox.as_ref(), "exec >&- 2>&-; sleep 0.3; exit 6").await;
    assert_eq!(output.exit, Exit::Code(6));
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_program_with_pipes_answers_and_ends() {
    let sandbox = sandbox().await;
    let exec = shell("while read line; do echo \"<$line>\"; done; echo bye >&2; exit 3");
    let mut piped = sandbox.spawn(&exec).await.unwrap();
    for line in ["one", "two"] {
        piped
            .stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        let mut answer = vec![0; line.len() + 3];
        timeout(LONG, piped.stdout.read_exact(&mut answer))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(answer, format!("<{line}>\n").as_bytes());
    }
    piped.stdin.shutdown().await.unwrap();
    let mut last = String::new();
    timeout(LONG, piped.stderr.read_to_string(&mut last))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(last, "bye\n");
    assert_eq!(
        timeout(LONG, piped.exit).await.unwrap().unwrap(),
        Exit::Code(3)
    );
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_dropped_program_is_killed() {
    let sandbox = sandbox().await;
    let exec = shell("mkfifo gone; sleep 86004 3>gone & echo up; wait");
    let mut piped = sandbox.spawn(&exec).await.unwrap();
    let watch = sandbox
        .spawn(&shell(
            "until [ -p gone ]; do sleep 0.01; done; cat gone; echo free",
        ))
        .await
        .unwrap();
    let mut up = [0; 3];
    timeout(LONG, piped.stdout.read_exact(&mut up))
        .await
        .unwrap()
        .unwrap();
    drop(piped);
    // The other end of the pipe closes when the last process that holds it is dead.
    assert_eq!(
        timeout(LONG, watch.exit).await.unwrap().unwrap(),
        Exit::Code(0)
    );
    assert_eq!(sleepers(sandbox.as_ref()).await, "0\n");
    sandbox.destroy().await;
}

#[tokio::test]
async fn files_are_written_and_read() {
    let sandbox = sandbox().await;
    let content: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for path in [
        "a.bin",
        "/tmp/x/y/-z",
        "dir with 'quotes'/new\nline",
        "/top",
    ] {
        sandbox.write(path, &content).await.unwrap();
        assert_eq!(
            sandbox.read(path, 1 << 20).await.unwrap(),
            content,
            "{path}"
        );
        assert_eq!(sandbox.read(path, 10).await.unwrap(), content[..10]);
    }
    sandbox.write("a.bin", b"").await.unwrap();
    assert_eq!(sandbox.read("/work/a.bin", 10).await.unwrap(), b"");
    for path in ["missing", "/tmp", "/proc/1/mem"] {
        let error = sandbox.read(path, 10).await.unwrap_err();
        assert!(
            matches!(error, SandboxError::Denied(_)),
            "{path}: {error:?}"
        );
    }
    let error = sandbox.write("a.bin/below", b"").await.unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error:?}");
    assert_eq!(sandbox.read("/dev/zero", 1000).await.unwrap(), [0; 1000]);
    sandbox.destroy().await;
}

#[tokio::test]
async fn trees_are_copied_in() {
    let sandbox = sandbox().await;
    let folder = tempfile::tempdir().unwrap();
    let mut tree = FileTree::default();
    for (path, content, executable) in [
        ("run.sh", "#!/bin/sh\necho ran", true),
        ("deep/er/data", "text", false),
    ] {
        let source = folder.path().join(path.replace('/', "_"));
        std::fs::write(&source, content).unwrap();
        tree.push(FileEntry {
            path: PathBuf::from(path),
            source,
            executable,
            size: content.len() as u64,
            digest: Digest::of(content.as_bytes()),
        })
        .unwrap();
    }
    sandbox.copy_in(&tree, "/work").await.unwrap();
    sandbox.copy_in(&tree, "/verify/new").await.unwrap();
    let seen = text(
        sandbox.as_ref(),
        "./run.sh; cat deep/er/data; /verify/new/run.sh; stat -c ' %U %a' deep/er/data deep /verify",
    )
    .await;
    assert_eq!(seen, "ran\ntextran\n root 644\n root 755\n root 755\n");
    sandbox.destroy().await;
}

#[tokio::test]
async fn container_terminals_repeat_nothing_even_without_stty() {
    let sandbox = sandbox().await;
    assert!(
        run(sandbox.as_ref(), "rm /usr/bin/stty")
            .await
            .exit
            .success()
    );
    let options = SessionOptions::new(Box::new(|_: &[u8]| Ok(())));
    let mut shell = ShellSession::open(sandbox.as_ref(), options).await.unwrap();
    let long = Timeouts {
        hard: LONG,
        quiet: LONG,
        wait: None,
        patience: None,
    };
    let ran = shell
        .run(sandbox.as_ref(), "echo said; pwd", long)
        .await
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.output.bytes), "said\n/work\n");
    sandbox.destroy().await;
}
