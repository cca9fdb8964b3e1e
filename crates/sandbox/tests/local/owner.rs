//! Everything started is owned: what happens to it when its owner goes, in peace or not.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use agon_sandbox::{Exec, Exit, OwnerMark, Provider, SandboxError, reap_dead_owners};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::ground::{INIT, Tracer, ground, init, outside, provider, request, sh};

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

/// Not a test by itself: the process that [`owner`] starts.
#[tokio::test]
#[ignore = "no test by itself: other tests start it as a process"]
async fn an_owner_for_other_tests() {
    assert!(std::env::var_os(ROLE).is_some(), "other tests start this");
    let provider = provider();
    let mut sandboxes = Vec::new();
    let program = format!("setsid sleep {}", 1_000_000 + std::process::id());
    for _ in 0..3 {
        let sandbox = provider.prepare(&request()).await.unwrap();
        sh(
            sandbox.as_ref(),
            &format!("{program} >/dev/null 2>&1 & {program} & :"),
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

/// Starts another owner, with three sandboxes.
fn owner() -> (Child, BufReader<ChildStdout>) {
    let mut owner = role("owner::an_owner_for_other_tests")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(owner.stdout.take().unwrap());
    let ready = output
        .by_ref()
        .lines()
        .map_while(Result::ok)
        .any(|line| line == "ready");
    assert!(ready, "the owner did not come up");
    let program = format!("sleep {}", 1_000_000 + owner.id());
    assert_eq!(alive(&program).len(), 4);
    assert!(!left_by(owner.id()).is_empty());
    (owner, output)
}

#[test]
fn an_owner_that_ends_leaves_nothing() {
    let (mut owner, _output) = owner();
    drop(owner.stdin.take());
    assert!(owner.wait().unwrap().success());
    let program = format!("sleep {}", 1_000_000 + owner.id());
    assert_eq!(alive(&program), Vec::<String>::new());
    assert_eq!(left_by(owner.id()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_killed_owner_leaves_nothing() {
    let (mut owner, _output) = owner();
    let program = format!("sleep {}", 1_000_000 + owner.id());
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
    all_gone(owner.id()).await;
    assert_eq!(alive(&program), Vec::<String>::new());
}

/// Starts sandboxes for ever: the process that
/// [`an_owner_killed_in_the_middle_of_starts_leaves_nothing`] starts.
#[tokio::test]
#[ignore = "no test by itself: other tests start it as a process"]
async fn an_owner_that_starts_for_ever() {
    assert!(std::env::var_os(ROLE).is_some(), "other tests start this");
    let provider = provider();
    let mut out = std::io::stdout();
    out.write_all(b"\nready\n").unwrap();
    out.flush().unwrap();
    let request = request();
    loop {
        let starts = (0..3).map(|_| provider.prepare(&request));
        drop(futures_util::future::join_all(starts).await);
    }
}

#[tokio::test]
async fn an_owner_killed_in_the_middle_of_starts_leaves_nothing() {
    for round in 0..10 {
        let mut owner = role("owner::an_owner_that_starts_for_ever")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(owner.stdout.take().unwrap());
        let mut lines = output.by_ref().lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "ready"));
        tokio::time::sleep(Duration::from_millis(7 * round)).await;
        owner.kill().unwrap();
        owner.wait().unwrap();
        all_gone(owner.id()).await;
    }
}

/// Waits until nothing of a dead owner is left, reaping as the next start would.
async fn all_gone(owner: u32) {
    let mark = format!("agon-{owner}-");
    let gone = async {
        while !alive(&mark).is_empty() || !left_by(owner).is_empty() {
            reap_dead_owners();
            tokio::task::yield_now().await;
        }
    };
    let late = tokio::time::timeout(Duration::from_secs(20), gone).await;
    assert!(
        late.is_ok(),
        "left: {:?} {:?}",
        alive(&mark),
        left_by(owner)
    );
}

/// A program that no other process runs: the whole machine is looked at, and others may test on it.
fn own_sleep() -> String {
    format!("sleep {}", 2_000_000 + std::process::id())
}

#[tokio::test]
async fn a_destroyed_sandbox_is_gone_at_once() {
    let ground = ground().await;
    let program = own_sleep();
    ground.sh(&format!("setsid {program} & :")).await;
    assert_eq!(alive(&program).len(), 1);
    ground.sandbox.destroy().await;
    assert_eq!(alive(&program).len(), 0);
}

fn kill_bubblewrap() {
    let us = std::process::id().to_string();
    let killed = Command::new("pkill")
        .args(["-9", "-P", &us, "bwrap"])
        .status()
        .unwrap();
    assert!(killed.success());
}

#[tokio::test]
async fn a_sandbox_killed_from_outside_says_so() {
    let ground = ground().await;
    let program = own_sleep();
    let exec = Exec::shell(&format!("exec {program}"), Duration::from_secs(30));
    let run = ground.sandbox.exec(&exec);
    let kill = async {
        while alive(&program).is_empty() {
            tokio::task::yield_now().await;
        }
        kill_bubblewrap();
    };
    let (run, ()) = tokio::join!(run, kill);
    let error = run.unwrap_err();
    assert!(matches!(error, SandboxError::Gone(_)), "{error}");
    let error = ground.sandbox.read("x", 1).await.unwrap_err();
    assert!(matches!(error, SandboxError::Gone(_)), "{error}");
}

#[tokio::test]
async fn a_loss_is_not_blamed_on_an_earlier_want_of_memory() {
    let ground = ground().await;
    let hog = "x = []\nwhile True: x.append(bytearray(b'x' * 1000000))";
    let exec = Exec::new(["python3", "-c", hog], Duration::from_secs(60));
    let done = ground.sandbox.exec(&exec).await.unwrap();
    assert!(!done.exit.success());
    kill_bubblewrap();
    // The init dies a moment after bubblewrap; until then it answers that there is no such file.
    let gone = async {
        loop {
            match ground.sandbox.read("x", 1).await.unwrap_err() {
                SandboxError::Denied(_) => tokio::task::yield_now().await,
                error => return error,
            }
        }
    };
    let error = tokio::time::timeout(Duration::from_secs(30), gone)
        .await
        .unwrap();
    assert!(matches!(error, SandboxError::Gone(_)), "{error}");
}

#[tokio::test]
async fn an_init_that_cannot_start_is_explained() {
    let provider = agon_sandbox::LocalProvider::new(agon_sandbox::LocalConfig {
        init: "/bin/false".into(),
        init_args: Vec::new(),
        hidden: Vec::new(),
    })
    .unwrap();
    let error = provider.prepare(&request()).await.unwrap_err();
    assert!(matches!(error, SandboxError::Start(_)), "{error}");
}

#[tokio::test]
async fn a_start_that_takes_too_long_is_given_up() {
    let provider = provider();
    let mut hurried = request();
    hurried.start = Duration::ZERO;
    let error = provider.prepare(&hurried).await.unwrap_err();
    assert!(matches!(error, SandboxError::Timeout { .. }), "{error}");
    hurried.start = Duration::from_millis(2);
    for _ in 0..5 {
        let _ = provider.prepare(&hurried).await;
    }
    drop(provider);
    assert_eq!(
        alive(&format!("agon-{}-", std::process::id())),
        Vec::<String>::new()
    );
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

/// Who can't look is told of nobody's death: the process that
/// [`the_living_stay_alive_for_who_can_not_look`] starts.
#[test]
#[ignore = "no test by itself: other tests start it as a process"]
fn an_owner_without_descriptors() {
    assert!(std::env::var_os(ROLE).is_some(), "other tests start this");
    let ours = OwnerMark::current().unwrap();
    let ours_as_text = ours.to_string();
    let (_, namespace) = ours_as_text.rsplit_once('-').unwrap();
    let nobodys = format!("{}-1-{namespace}", i32::MAX);
    let gone: OwnerMark = nobodys.parse().unwrap();
    let few = Rlimit {
        current: Some(64),
        maximum: Some(64),
    };
    setrlimit(Resource::Nofile, few).unwrap();
    let mut held: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let mut seen = Vec::new();
    // From none to a few: a sweep needs one for the folder that it lists, and one for each look at an owner.
    while seen.len() < 4 {
        seen.push((ours.is_dead(), gone.is_dead()));
        held.pop();
    }
    drop(held);
    assert_eq!(seen, [(false, true); 4]);
}

#[test]
fn the_living_stay_alive_for_who_can_not_look() {
    succeeds(&mut role("owner::an_owner_without_descriptors"));
}

/// The numbers of another namespace name strangers: the process that
/// [`an_owner_needs_the_proc_of_its_own_namespace`] starts.
#[test]
#[ignore = "no test by itself: other tests start it as a process"]
fn an_owner_with_a_strange_proc() {
    assert!(std::env::var_os(ROLE).is_some(), "other tests start this");
    let error = OwnerMark::current().unwrap_err().to_string();
    assert!(error.contains("another pid namespace"), "{error}");
}

#[test]
fn an_owner_needs_the_proc_of_its_own_namespace() {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--pid", "--fork"]);
    let tests = role("owner::an_owner_with_a_strange_proc");
    unshare.arg(tests.get_program()).args(tests.get_args());
    succeeds(unshare.env(ROLE, "1"));
}

/// A test of this file as a process of its own.
fn role(name: &str) -> Command {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args([name, "--exact", "--ignored", "--nocapture"]);
    tests.env(ROLE, "1");
    tests
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let complained = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{said}\n{complained}"
    );
}

/// The rest of this file's neighbours once more, without privileges and without control groups.
#[test]
fn it_works_for_an_ordinary_user() {
    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let copy = |from: PathBuf, name: &str| {
        let to = folder.path().join(name);
        std::fs::copy(from, &to).unwrap();
        to
    };
    let tests = copy(std::env::current_exe().unwrap(), "tests");
    let init = copy(init(), "init");
    let mut unprivileged = if rustix::process::geteuid().is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        setpriv.arg(tests);
        setpriv
    } else {
        Command::new(tests)
    };
    let done = unprivileged
        .args(["--exact", "--test-threads", "2"])
        .args([
            "confinement::the_system_cannot_be_changed",
            "confinement::the_init_can_be_neither_traced_nor_read",
            "exec::a_timeout_ends_the_whole_tree_and_keeps_what_was_said",
            "exec::status_and_streams_come_back",
            "files::a_frozen_folder_goes_on_in_a_fresh_sandbox",
            "limits::a_bomb_that_still_runs_is_frozen",
            "limits::a_memory_hog_dies_and_the_sandbox_survives",
            "limits::the_description_names_what_enforces",
            "mounted::the_owners_name_opens_nothing_else",
            "mounted::what_is_hidden_below_it_stays_hidden",
            "mounted::what_is_made_there_belongs_to_the_owner_and_stays",
            "owner::an_owner_that_ends_leaves_nothing",
            "sealed::a_seal_can_not_be_broken",
            "sealed::a_sealed_interpreter_can_be_neither_read_nor_traced",
            "terminals::a_command_can_be_killed_without_the_shell",
        ])
        .env(INIT, init)
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.contains("15 passed"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_ended_is_named_and_everything_else_removed() {
    let (mut owner, _output) = owner();
    let program = format!("sleep {}", 1_000_000 + owner.id());
    let held = outside(&program)[0];
    let tracer = Tracer::of(held);
    owner.kill().unwrap();
    owner.wait().unwrap();
    let of_owner = format!("agon-{}-", owner.id());
    let named = format!(
        "process {held} can't be ended: process {} traces it",
        tracer.pid()
    );
    let grouped = !matches!(
        agon_sandbox::Enforcement::detect(),
        agon_sandbox::Enforcement::Rlimits
    );
    assert!(
        grouped,
        "without control groups nothing is left that has a name"
    );
    let left = loop {
        let ours = |left: &String| left.contains(&of_owner);
        let left = reap_dead_owners().left;
        let left: Vec<String> = left.into_iter().filter(ours).collect();
        // Others may still be on their way.
        if !left.is_empty() && outside(&program) == [held] {
            break left;
        }
    };
    assert!(
        left.iter().any(|it| it.ends_with(&named)),
        "{left:?} {named}"
    );
    drop(tracer);
    while !left_by(owner.id()).is_empty() {
        reap_dead_owners();
    }
    assert_eq!(outside(&program), Vec::<u32>::new());
}
