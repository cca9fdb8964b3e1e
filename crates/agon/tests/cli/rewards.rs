//! Tasks in containers whose tests write a reward to a file, as Harbor's do; and repositories in containers
//! that are handed in as a patch.

use std::process::Command;

use agon::core::verdict::Outcome;
use agon::prelude::TrialLine;
use serde_json::{Value, json};

use crate::support::Bench;

const IMAGE: &str = "agon-test:latest";

fn engine() -> String {
    std::env::var("DOCKER_HOST")
        .unwrap_or_else(|_| panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`"))
}

/// Rewards whoever put an answer to /app.
const TESTS: &str = "\
mkdir -p /logs/verifier
ls /tests > /logs/verifier/listed
if [ \"$(cat /app/answer)\" = 42 ] && [ \"$(pwd)\" = /app ] && [ \"$(cat /tests/expected)\" = 42 ]; then
    echo 1 > /logs/verifier/reward.txt
elif [ \"$(cat /app/answer)\" = half ]; then
    echo '{\"reward\": 0.5}' > /logs/verifier/reward.json
elif [ \"$(cat /app/answer)\" != silence ]; then
    echo 0 > /logs/verifier/reward.txt
fi
";

fn task(bench: &Bench, id: &str, changes: &Value, command: &str) {
    let mut task = json!({
        "task": "Write the answer to /app/answer.",
        "environment": { "kind": "container", "image": IMAGE, "cwd": "/app", "grading": "used" },
        "setup_cmd": "mkdir -p /app",
        "checks": [{ "type": "reward", "script": "test.sh" }],
        "solution": [{ "action": "run", "command": command }],
    });
    for (key, value) in changes.as_object().unwrap() {
        task[key] = value.clone();
    }
    let write = |name: &str, text: &str| {
        bench.write(&format!("suite/test/{id}/{name}"), text);
    };
    write("task.yaml", &task.to_string());
    write("verify/test.sh", TESTS);
    write("verify/expected", "42\n");
}

fn played(bench: &Bench) -> Vec<TrialLine> {
    let called = bench
        .run(&["--agent", "oracle", "--workers", "2"])
        .expect(0);
    assert_eq!(called.json()["faulted"], 0, "{}", called.stderr());
    let mut trials = bench.trials();
    trials.retain(|line| line.is_final);
    trials
}

#[test]
fn container_rewards_are_those_that_the_tests_wrote() {
    engine();
    let bench = Bench::new();
    let none = json!({});
    let planted = "mkdir -p /logs/verifier /tests; echo 1 | tee /logs/verifier/reward.txt /logs/verifier/reward.json";
    let cheats = [
        ("planted", planted.to_owned()),
        // The one test that says nothing would leave what was there.
        ("planted-silent", format!("{planted}; echo silence > /app/answer")),
        (
            "planted-by-a-link",
            format!("echo 1 > /one; {planted}; ln -sf /one /logs/verifier/reward.txt; echo silence > /app/answer"),
        ),
        (
            "replaced-rm",
            format!("{planted}; printf '#!/bin/sh\\nexit 0\\n' > /usr/bin/rm; echo silence > /app/answer"),
        ),
        (
            "later",
            "(setsid sh -c 'while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; \
             done' >/dev/null 2>&1 &)"
                .to_owned(),
        ),
        ("own-tests", "mkdir -p /tests; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh".to_owned()),
        ("nothing", "true".to_owned()),
        ("silence", "echo silence > /app/answer".to_owned()),
    ];
    for (id, command) in &cheats {
        task(&bench, id, &none, command);
    }
    task(&bench, "honest", &none, "echo 42 > /app/answer");
    task(&bench, "half", &none, "echo half > /app/answer");
    let trials = played(&bench);
    assert_eq!(trials.len(), cheats.len() + 2);
    for line in trials {
        let id = line.task.to_string();
        let (outcome, score) = match id.as_str() {
            "test/honest" => (Outcome::Passed, 1.0),
            "test/half" => (Outcome::Failed, 0.5),
            _ => (Outcome::Failed, 0.0),
        };
        assert_eq!((line.outcome, line.score), (outcome, score), "{line:?}");
        assert!(line.tainted, "it ran where the agent had been: {line:?}");
    }
}

#[test]
fn container_rewards_count_only_beside_the_programs_of_the_image() {
    engine();
    let bench = Bench::new();
    let none = json!({});
    let forge = "printf '#!/bin/sh\\necho 42\\n' > /forged; chmod +x /forged";
    let cheats = [
        (
            "cat",
            format!("{forge}; cp /forged /usr/bin/cat"),
            "/usr/bin/cat",
        ),
        (
            "bash",
            format!("{forge}; rm /usr/bin/bash; cp /forged /usr/bin/bash"),
            "/usr/bin/bash",
        ),
        (
            "hidden",
            format!("{forge}; mv /forged /usr/local/bin/cat"),
            "/usr/local/bin/cat",
        ),
        (
            "preload",
            "touch /etc/ld.so.preload".to_owned(),
            "/etc/ld.so.preload",
        ),
        (
            "library",
            "echo >> /usr/lib/os-release".to_owned(),
            "/usr/lib/os-release",
        ),
    ];
    for (id, command, _) in &cheats {
        task(&bench, id, &none, command);
    }
    let installs = "printf '#!/bin/sh\\necho 42\\n' > /usr/local/bin/answer; chmod +x /usr/local/bin/answer; \
        cp /usr/local/bin/answer /usr/bin/answer2; touch /usr/lib/new; touch /usr/bin/gone; rm /usr/bin/gone; \
        mkdir -p /usr/lib/mine; touch /usr/sbin; answer > /app/answer";
    task(&bench, "installs", &none, installs);
    let trials = played(&bench);
    assert_eq!(trials.len(), cheats.len() + 1);
    for line in trials {
        let id = line.task.to_string().replace("test/", "");
        assert!(line.tainted, "{line:?}");
        match cheats.iter().find(|(cheat, ..)| *cheat == id) {
            None => assert_eq!((line.score, line.integrity), (1.0, None), "{}", line.reason),
            Some((_, _, name)) => {
                assert_eq!(
                    (line.outcome, line.score),
                    (Outcome::Failed, 0.0),
                    "{line:?}"
                );
                let mark = format!("programs of the image were replaced: {name}");
                assert_eq!(line.integrity, Some(mark), "{id}");
            }
        }
    }
}

#[test]
fn container_rewards_can_be_given_in_a_fresh_one() {
    engine();
    let bench = Bench::new();
    let fresh = json!({
        "environment": { "kind": "container", "image": IMAGE, "fresh_checks": true },
        "setup_cmd": "true",
    });
    let cheat = "printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n' > /usr/bin/bash";
    task(&bench, "cheat", &fresh, cheat);
    bench.write(
        "suite/test/cheat/verify/test.sh",
        "[ -e /work/done ] && echo 1 > /logs/verifier/reward.txt",
    );
    task(&bench, "honest", &fresh, "touch done");
    bench.write(
        "suite/test/honest/verify/test.sh",
        "[ -e /work/done ] && echo 1 > /logs/verifier/reward.txt",
    );
    for line in played(&bench) {
        let honest = line.task.to_string() == "test/honest";
        let outcome = if honest {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        assert_eq!(line.outcome, outcome, "{line:?}");
        assert!(!line.tainted);
    }
}

/// The test image with this machine's git, whose libraries it has.
pub(crate) struct WithGit(pub(crate) String);

impl WithGit {
    /// `more` stands in its recipe.
    pub(crate) fn make(bench: &Bench, more: &str) -> Self {
        let tag = format!("agon-test-git:{}", std::process::id());
        std::fs::create_dir_all(bench.path("image")).unwrap();
        let found = Command::new("sh")
            .args(["-c", "command -v git"])
            .output()
            .unwrap();
        let git = String::from_utf8(found.stdout).unwrap();
        std::fs::copy(git.trim(), bench.path("image/git")).unwrap();
        bench.write(
            "image/Dockerfile",
            // Layers of its own: those of one test must not go with the image of another.
            &format!("FROM {IMAGE}\nLABEL test={tag}\nCOPY git /usr/bin/git\n{more}\n"),
        );
        let built = Command::new("docker")
            .args([
                "--host",
                &engine(),
                "build",
                "--network",
                "none",
                "--tag",
                &tag,
            ])
            .arg(bench.path("image"))
            .env("DOCKER_BUILDKIT", "0")
            .output()
            .unwrap();
        assert!(built.status.success(), "{built:?}");
        Self(tag)
    }
}

impl Drop for WithGit {
    fn drop(&mut self) {
        let removal = ["--host", &engine(), "image", "rm", "--force", &self.0];
        let _ = Command::new("docker").args(removal).output();
    }
}

#[test]
fn container_repositories_are_handed_in_as_a_patch_and_completed_afresh() {
    let bench = Bench::new();
    let image = WithGit::make(&bench, "");
    let setup = "mkdir repo && cd repo && echo old > file && git init -q && git add -A && \
        git -c user.name=t -c user.email=t commit -q -m start";
    let task = |id: &str, command: &str| {
        let task = json!({
            "task": "Renew the file.",
            "environment": { "kind": "container", "image": image.0 },
            "setup_cmd": setup,
            "complete_cmd": "test ! -e /planted && echo done > repo/completed",
            "hand_in": { "patch": "repo", "protected": ["fixed"] },
            "checks": [{
                "type": "command_output", "equals": "new\ndone\n",
                "command": "cat repo/file repo/completed; ls repo/fixed /planted 2>/dev/null; true",
            }],
            "solution": [{ "action": "run", "command": command }],
        });
        bench.write(&format!("suite/test/{id}/task.yaml"), &task.to_string());
    };
    let plant =
        "touch /planted; printf '#!/bin/sh\\nprintf \"new\\\\ndone\\\\n\"\\n' > /usr/bin/cat";
    task("honest", "echo new > repo/file; touch /planted repo/fixed");
    task("cheat", plant);
    for line in played(&bench) {
        let honest = line.task.to_string() == "test/honest";
        let outcome = if honest {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        assert_eq!(line.outcome, outcome, "{line:?}");
        assert_eq!(line.integrity.is_some(), honest);
        assert!(!line.tainted, "nothing ran where the agent had been");
    }
    bench
        .run(&["--agent", "oracle", "--mode", "validate-only"])
        .expect(0);
    let mut again = bench.trials();
    again.retain(|line| line.is_final);
    assert!(again.iter().all(|line| line.regraded), "{again:?}");
    assert_eq!(again.iter().filter(|line| line.score == 1.0).count(), 1);
}
