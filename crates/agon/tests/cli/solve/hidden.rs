//! What lies in the working folder and is none of the agent's business.

use std::fs;

use crate::scripted::{finish, run};
use crate::secrets::Secret;
use crate::support::Bench;

#[test]
fn keys_and_records_of_sessions_are_out_of_reach() {
    let bench = Bench::new();
    let key = "sk-55d0a1b7-solve-9e3c41";
    let looks = "\
cat config.toml > keys.txt; ls -A runs > runs.txt; grep -r first runs /workspace/runs > found.txt
rm -rf runs; echo forged > runs/solve-first/trajectory.json; true";
    let looks = [
        run(looks),
        run("echo 'api_key = 1' > config.toml; true"),
        finish("Done."),
    ];
    bench.paid_turns(key, &looks);
    let config = fs::read(bench.path("config.toml")).unwrap();
    let args = ["solve", "-t", "Look around.", "-l", "llm", "-n"];
    for name in ["first", "second"] {
        let called = bench.call(&[&args[..], &[name]].concat()).expect(0);
        let secret = Secret::new(key);
        secret.assert_unsaid(&called);
        for file in ["keys.txt", "runs.txt", "found.txt"] {
            let seen = fs::read_to_string(bench.path(file)).unwrap();
            assert_eq!(seen, "", "{file}");
        }
        assert!(secret.files_with(&bench.path("runs")).is_empty());
    }
    assert!(
        fs::read(bench.path("config.toml")).unwrap() == config,
        "it is as it was"
    );
    let kept = fs::read_to_string(bench.path("runs/solve-first/trajectory.json")).unwrap();
    assert!(kept.starts_with('['), "{kept}");
}

/// A user's own file may hold a key of ours: the agent can read it, nobody can read it in the record.
#[test]
fn a_key_that_the_agent_comes_upon_is_not_recorded() {
    let bench = Bench::new();
    let key = "sk-71c2f0de-notes-4ab91c";
    bench.write("notes.txt", &format!("our key: {key}\n"));
    bench.paid_turns(key, &[run("cat notes.txt"), finish("I have seen it.")]);
    let args = ["solve", "-t", "Read my notes.", "-l", "llm", "-n", "notes"];
    let called = bench.call(&args).expect(0);
    let secret = Secret::new(key);
    secret.assert_unsaid(&called);
    assert!(called.stderr().contains("our key: [key]"));
    assert!(secret.files_with(&bench.path("runs")).is_empty());
}
