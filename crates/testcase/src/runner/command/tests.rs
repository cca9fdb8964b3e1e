//! Real programs as runners.

use std::fs;

use super::*;

const LEAST: &str = r#"{"trajectory":[],"command_output_check_results":[],"status":"finished"}"#;

async fn run(script: &str) -> Result<TestCaseRun, RunnerError> {
    let line = format!("sh -c '{}'", script.replace('\'', r"'\''"));
    let program = Program::open("cmd:", &line).unwrap();
    let case = TestCase {
        id: "a".to_owned(),
        ..TestCase::default()
    };
    program.run(&case, &RunnerConfig::default()).await
}

#[tokio::test]
async fn a_program_gets_the_case_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard");
    let script = format!("cat > {}; echo '{LEAST}'", heard.display());
    let run = run(&script).await.unwrap();
    assert_eq!(run.status.as_deref(), Some("finished"));
    let heard: serde_json::Value = serde_json::from_slice(&fs::read(heard).unwrap()).unwrap();
    assert_eq!(heard["testcase"]["id"], "a");
    assert_eq!(heard["config"]["max_steps"]["gold"], 100);
}

#[tokio::test]
async fn one_that_does_not_read_answers_nevertheless() {
    run(&format!("echo '{LEAST}'")).await.unwrap();
}

#[tokio::test]
async fn crashes_and_garbage_are_told_apart() {
    let crashed = run("echo broken >&2; exit 3").await.unwrap_err();
    let why = "exit status 3: broken".to_owned();
    assert_eq!(crashed, RunnerError::Crashed(why));
    let crashed = run(&format!("echo '{LEAST}'; kill -9 $$"))
        .await
        .unwrap_err();
    assert!(crashed.to_string().contains("signal 9"), "{crashed}");
    let garbage = run("echo hello").await.unwrap_err();
    assert!(matches!(garbage, RunnerError::Garbage(_)), "{garbage}");
}

#[tokio::test]
async fn one_that_never_ends_its_answer_is_ended_and_talks_nonsense() {
    let many = "head -c 300000000 /dev/zero";
    for script in [
        format!("{many}; exit 3"),
        // It does not care that nobody listens.
        format!("trap '' PIPE; {many}; sleep 1000"),
    ] {
        let error = run(&script).await.unwrap_err();
        assert!(matches!(error, RunnerError::Garbage(_)), "{error}");
        assert!(error.to_string().contains("longer than"), "{error}");
    }
}

#[tokio::test]
async fn what_it_leaves_running_keeps_nobody_waiting() {
    // It holds both pipes.
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; echo '{LEAST}'", pid.display());
    run(&script).await.unwrap();
    let pid = fs::read_to_string(pid).unwrap();
    gone(pid.trim()).await;
}

#[tokio::test]
async fn it_ends_when_nobody_waits_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!(
        "sleep 1000 & echo $! > {}.new; mv {0}.new {0}; wait",
        pid.display()
    );
    tokio::select! {
        ended = run(&script) => panic!("{ended:?}"),
        () = there(&pid) => {}
    }
    gone(fs::read_to_string(&pid).unwrap().trim()).await;
}

async fn there(path: &Path) {
    while !path.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until a process has ended, be it that nobody has reaped it yet.
async fn gone(pid: &str) {
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.trim().chars().next()
    };
    while state().is_some_and(|state| state != 'Z') {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
