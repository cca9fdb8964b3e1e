//! Everything started is owned: what happens to it when its owner goes, in peace or not.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_sandbox::{Exec, Exit, Provider, Sandbox, SandboxError, reap_dead_owners};

use crate::ground::{ground, provider, request, sh};

/// Marks a process that this file started as an owner to be killed.
const ROLE: &str = "AGON_TEST_OWNER";

/// Processes whose command line holds `needle`.
fn alive(needle: &str) -> Vec<String> {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    folders
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(needle))
        .collect()
}

fn left_by(owner: u32) -> Vec<PathBuf> {
    let mut places = vec![std::env::temp_dir()];
    let groups = PathBuf::from("/sys/fs/cgroup");
    let mut look = vec![groups];
    while let Some(folder) = look.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        look.extend(
            entries
                .map(|it| it.path())
                .filter(|it| it.is_dir() && !it.is_symlink()),
        );
        places.push(folder);
    }
    let ours = format!("agon-{owner}-");
    places
        .iter()
        .flat_map(|place| std::fs::read_dir(place).into_iter().flatten().flatten())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours))
        .map(|entry| entry.path())
        .collect()
}

/// Not a test by itself: the process that [`a_killed_owner_leaves_nothing`] kills.
#[tokio::test]
async fn an_owner_to_be_killed() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let provider = provider();
    let mut sandboxes = Vec::new();
    for _ in 0..3 {
        let sandbox = provider.prepare(&request()).await.unwrap();
        sh(
            sandbox.as_ref(),
            "setsid sleep 8642 >/dev/null 2>&1 & setsid sleep 8642 & :",
        )
        .await;
        sandboxes.push(sandbox);
    }
    let frozen = sandboxes[0].freeze().await.unwrap();
    let mut out = std::io::stdout();
    out.write_all(b"\nready\n").unwrap();
    out.flush().unwrap();
    let _ = std::io::stdin().read_line(&mut String::new());
    drop((frozen, sandboxes));
}

#[tokio::test]
async fn a_killed_owner_leaves_nothing() {
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["owner::an_owner_to_be_killed", "--exact", "--nocapture"])
        .env(ROLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let ready = lines.map_while(Result::ok).any(|line| line == "ready");
    assert!(ready, "the owner did not come up");
    assert_eq!(alive("sleep 8642").len(), 4);
    assert!(!left_by(owner.id()).is_empty());

    // The living lose nothing.
    let reaped = reap_dead_owners();
    let of_owner = format!("agon-{}-", owner.id());
    let named = |paths: &[PathBuf]| {
        paths
            .iter()
            .any(|it| it.to_string_lossy().contains(&of_owner))
    };
    assert!(
        !named(&reaped.folders) && !named(&reaped.cgroups),
        "{reaped:?}"
    );

    owner.kill().unwrap();
    owner.wait().unwrap();
    reap_dead_owners();
    let gone = async {
        while !alive("sleep 8642").is_empty() || !left_by(owner.id()).is_empty() {
            reap_dead_owners();
            tokio::task::yield_now().await;
        }
    };
    let late = tokio::time::timeout(Duration::from_secs(20), gone).await;
    assert!(
        late.is_ok(),
        "left: {:?} {:?}",
        alive("sleep 8642"),
        left_by(owner.id())
    );
}

#[tokio::test]
async fn a_destroyed_sandbox_is_gone_at_once() {
    let ground = ground().await;
    ground.sh("setsid sleep 9753 & :").await;
    assert_eq!(alive("sleep 9753").len(), 1);
    ground.sandbox.destroy().await;
    assert_eq!(alive("sleep 9753").len(), 0);
    drop(ground.provider);
    assert_eq!(left_by(std::process::id()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_sandbox_killed_from_outside_says_so() {
    let ground = ground().await;
    let exec = Exec::shell("exec sleep 9864", Duration::from_secs(30));
    let run = ground.sandbox.exec(&exec);
    let kill = async {
        while alive("sleep 9864").is_empty() {
            tokio::task::yield_now().await;
        }
        let us = std::process::id().to_string();
        let killed = Command::new("pkill")
            .args(["-9", "-P", &us, "bwrap"])
            .status()
            .unwrap();
        assert!(killed.success());
    };
    let (run, ()) = tokio::join!(run, kill);
    let error = run.unwrap_err();
    assert!(matches!(error, SandboxError::Gone(_)), "{error}");
    let error = ground.sandbox.read("x", 1).await.unwrap_err();
    assert!(matches!(error, SandboxError::Gone(_)), "{error}");
}

#[tokio::test]
async fn an_init_that_cannot_start_is_explained() {
    let provider = agon_sandbox::LocalProvider::new(agon_sandbox::LocalConfig {
        init: "/bin/false".into(),
        init_args: Vec::new(),
    })
    .unwrap();
    let error = provider.prepare(&request()).await.unwrap_err();
    assert!(matches!(error, SandboxError::Start(_)), "{error}");
}

#[tokio::test]
async fn places_are_used_again() {
    let provider = provider();
    for _ in 0..5 {
        let sandbox = provider.prepare(&request()).await.unwrap();
        assert_eq!(
            sh(sandbox.as_ref(), "ls -A /work | wc -l; echo x > /work/x")
                .await
                .exit,
            Exit::Code(0)
        );
        sandbox.destroy().await;
    }
}
