//! Tasks in containers, on the engine that DOCKER_HOST names and the image that
//! `cargo xtask test` makes.

use std::process::Command;
use std::time::{Duration, Instant};

use agon::core::verdict::Outcome;

use crate::support::Bench;

const ENVIRONMENT: &str = "environment: { kind: container, image: 'agon-test:latest' }";

fn task(more: &str) -> String {
    format!("name: Test\ntask: Do it.\n{more}\n")
}

pub(crate) fn engine() -> String {
    std::env::var("DOCKER_HOST")
        .unwrap_or_else(|_| panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`"))
}

/// Names of containers that belong to runs of this folder name.
pub(crate) fn containers(run: &str) -> String {
    let output = Command::new("docker")
        .args(["--host", &engine(), "ps", "--all", "--format", "{{.Names}}"])
        .args(["--filter", &format!("label=agon.run={run}")])
        .output()
        .unwrap();
    // An engine that does not answer has no containers either.
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn container_checks_run_in_a_fresh_one_and_are_not_tainted() {
    engine();
    let bench = Bench::new();
    let checks = "\
setup_cmd: mkdir -p data && echo 7 > data/seven
checks:
  - { type: file, path: greeting.txt, equals: \"hello\\n\" }
  - { type: command_output, command: cat greeting.txt data/seven, equals: \"hello\\n7\\n\" }
solution: [{ action: run, command: echo hello > greeting.txt }]";
    bench.suite(&[("a", &task(&format!("{ENVIRONMENT}\n{checks}")))]);
    bench.run(&["--agent", "oracle"]).expect(0);
    let trial = bench.trial();
    assert_eq!(trial.outcome, Outcome::Passed, "{trial:?}");
    assert!(!trial.tainted, "nothing ran where the agent had been");
    let manifest = bench.reader().manifest().clone();
    let image = manifest.tasks[0].image.clone().unwrap();
    assert!(image.contains("sha256:"), "the image is pinned: {image}");
    assert!(
        manifest
            .host
            .engines
            .iter()
            .any(|engine| engine.contains("API"))
    );
}

#[test]
fn container_has_no_network_and_scripts_say_their_verdict() {
    engine();
    let bench = Bench::new();
    let yaml = task(&format!(
        "{ENVIRONMENT}
checks: [{{ type: script, path: check.sh }}]
solution: [{{ action: run, command: ls /sys/class/net > net.txt }}]"
    ));
    bench.write("suite/test/net/task.yaml", &yaml);
    bench.write(
        "suite/test/net/verify/check.sh",
        "#!/bin/sh
read -r nonce
if [ \"$(cat net.txt)\" = lo ]; then score=1; else score=0; fi
printf '{\"nonce\":\"%s\",\"score\":%s,\"reason\":\"interfaces\"}\\n' \"$nonce\" $score >&3
",
    );
    bench.run(&["--agent", "oracle"]).expect(0);
    let trial = bench.trial();
    assert_eq!(trial.outcome, Outcome::Passed, "{trial:?}");
}

/// Long enough to be stopped in the middle.
fn slow_suite(bench: &Bench) {
    let yaml = task(&format!(
        "{ENVIRONMENT}
checks: [{{ type: file, path: done }}]
solution: [{{ action: run, command: sleep 1; touch done }}]"
    ));
    bench.suite(&[("slow", &yaml)]);
}

fn wait_for_container(run: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while containers(run).is_empty() {
        assert!(Instant::now() < deadline, "no container was started");
    }
}

#[test]
fn container_heavy_a_stopped_run_leaves_none_behind() {
    engine();
    let bench = Bench::new();
    slow_suite(&bench);
    let run = format!("run-{}", std::process::id());
    let args = [
        "run",
        "suite",
        "--out",
        &run,
        "--agent",
        "oracle",
        "--epochs",
        "3",
        "--workers",
        "2",
    ];

    let mut killed = bench.agon(&args).spawn().unwrap();
    wait_for_container(&run);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(
        !containers(&run).is_empty(),
        "killed with containers running"
    );

    let interrupted = bench.agon(&args).spawn().unwrap();
    let before = containers(&run);
    let deadline = Instant::now() + Duration::from_secs(60);
    // The containers of the killed process go first, then its own come.
    while containers(&run) == before || containers(&run).is_empty() {
        assert!(
            Instant::now() < deadline,
            "the dead owner's containers are still there"
        );
    }
    Command::new("kill")
        .args(["-INT", &interrupted.id().to_string()])
        .status()
        .unwrap();
    let output = interrupted.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(containers(&run), "", "interrupted: nothing is left");

    bench.call(&args).expect(0);
    assert_eq!(containers(&run), "");
    let reader = agon::store::RunReader::open(&bench.path(&run)).unwrap();
    let finals = reader
        .trials()
        .unwrap()
        .iter()
        .filter(|line| line.is_final)
        .count();
    assert_eq!(finals, 3);
}
