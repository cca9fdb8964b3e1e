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

/// The same files as in `agon run`, by whatever name.
#[test]
fn tapes_and_a_configuration_by_another_name_are_out_of_reach_too() {
    let bench = Bench::new();
    let key = "sk-0c8e77f1-solve-other-name";
    let looks = [
        run("cat mine.toml calls.jsonl .env > seen.txt; wc -c < seen.txt > size.txt"),
        finish("Done."),
    ];
    bench.paid_turns(key, &looks);
    fs::rename(bench.path("config.toml"), bench.path("mine.toml")).unwrap();
    bench.write(".env", "A=B\n");
    let args = [
        "solve",
        "-t",
        "Look around.",
        "-l",
        "llm",
        "--config-file",
        "mine.toml",
    ];
    let called = bench.call(&[&args[..], &["--record-tape", "calls.jsonl"]].concat());
    let called = called.expect(0);
    Secret::new(key).assert_unsaid(&called);
    assert_eq!(fs::read_to_string(bench.path("size.txt")).unwrap(), "0\n");
    assert!(
        fs::read_to_string(bench.path("calls.jsonl"))
            .unwrap()
            .contains("agon_tape")
    );
}

#[test]
fn an_agent_from_outside_is_given_its_program_and_no_key() {
    let bench = Bench::new();
    let key = "sk-19b3c5d7-solve-cmd-agent";
    bench.paid_turns(key, &[]);
    let agent = r#"
import json, os, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        print(json.dumps({"action": "finish", "result": " ".join(sorted(os.listdir("/agent")))}), flush=True)
"#;
    bench.write("agent.py", agent);
    bench.write("data.csv", "");
    fs::create_dir(bench.path("project")).unwrap();
    let args = [
        "solve",
        "-t",
        "Look.",
        "-c",
        "cmd:python3 agent.py",
        "-d",
        "project",
        "--json",
    ];
    let json = bench.call(&args).expect(0).json();
    assert_eq!(json["message"], "agent.py");
}
