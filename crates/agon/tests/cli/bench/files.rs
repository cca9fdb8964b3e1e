//! The result folder: its layout, the keys of its files, and what must not be in it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{BENCH_RUN, told};
use crate::killed::ground::{Ground, Started};
use crate::scripted::{assert_shape, finish, keys, rows, run};
use crate::secrets::Secret;
use crate::support::Bench;

const LEAF: &str = "turns_hello_maxiter_5";

#[test]
fn the_folder_is_laid_out_as_users_know_it() {
    let bench = Bench::new();
    bench.words(&[("one", "hello"), ("owner/two 2", "world")]);
    let model = bench.says_hello();
    let json = bench.bench_run(&["-l", &model, "-i", "5"]).expect(0).json();
    assert_eq!((&json["passed"], &json["failed"]), (&json!(1), &json!(1)));
    let folder = bench.results(LEAF);
    assert_eq!(json["run"], format!("out/Words/CodeActAgent/{LEAF}"));
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "begun.jsonl",
            "blobs",
            "infer_logs",
            "logs",
            "metadata.json",
            "output.jsonl",
            "run.json",
            "run.lock",
            "trials",
            "trials.jsonl",
        ]
    );
    let metadata = fs::read_to_string(folder.join("metadata.json")).unwrap();
    assert_eq!(
        keys(&metadata),
        [
            "agent_class",
            "llm_config",
            "agent_config",
            "max_iterations",
            "eval_output_dir",
            "start_time",
            "git_commit",
            "dataset",
            "data_split",
            "details",
            "condenser_config",
            "instruction_template_name",
        ]
    );
    assert_shape("bench-metadata", serde_json::from_str(&metadata).unwrap());
    let text = fs::read_to_string(folder.join("output.jsonl")).unwrap();
    for line in text.lines() {
        assert_eq!(
            keys(line),
            [
                "instance_id",
                "test_result",
                "instruction",
                "metadata",
                "history",
                "metrics",
                "error",
                "instance",
            ]
        );
    }
    let rows = rows(&folder.join("output.jsonl"));
    let resolved = [("one", true), ("owner/two 2", false)];
    let resolved = resolved.map(|(id, is)| (id.to_owned(), json!(is)));
    assert_eq!(told(&rows, "/test_result/resolved"), resolved);
    let row = rows.iter().find(|row| row["instance_id"] == "one").unwrap();
    let mut row = row.clone();
    // The prompt and the tools are the agent's own matter, and are looked at there.
    let system = &mut row["history"][0];
    assert_eq!(system["action"], "system");
    system["message"] = json!("[prompt]");
    system["args"]["content"] = json!("[prompt]");
    system["args"]["tools"] = json!("[tools]");
    assert_shape("bench-row", row);
}

#[test]
fn every_instance_has_a_log_that_a_person_can_read() {
    let bench = Bench::new();
    bench.words(&[("one", "hello"), ("owner/two 2", "world")]);
    let noisy = run("printf '\\033[31mred\\a\\n'; echo hello > out.txt; seq 100000");
    let model = bench.turns("hello", &[noisy, finish("Done.")]);
    bench.bench_run(&["-l", &model, "-i", "5"]).expect(0);
    let folder = bench.results(LEAF);
    let logs = folder.join("infer_logs");
    assert_eq!(fs::read_dir(&logs).unwrap().count(), 2);
    assert_eq!(fs::read_dir(folder.join("logs")).unwrap().count(), 0);
    let log = fs::read_to_string(logs.join("instance_one.log")).unwrap();
    for part in [
        "TASK: Write the word hello to out.txt.",
        "ACTION: run printf",
        "OBSERVATION: ",
        "red",
        "ACTION: finish Done.",
        "END: finished",
        "CHECK: file out.txt passed",
        "result of words/one: passed, score 1, 2 steps",
    ] {
        assert!(log.contains(part), "`{part}` is missing: {log}");
    }
    let control = |c: char| c.is_control() && !"\n\t".contains(c);
    assert!(!log.contains(control), "{log:?}");
    assert!(log.len() < 60_000, "{} bytes", log.len());
    let other = fs::read_to_string(logs.join("instance_owner_two_2.log")).unwrap();
    assert!(
        other.contains("result of words/owner_two_2: failed"),
        "{other}"
    );
}

/// Looks again and again while it runs; a row that does not come fails the test.
#[track_caller]
fn wait_for_rows(running: &mut Started, file: &Path) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        if !whole.is_empty() {
            let read = |line| serde_json::from_str(line).unwrap();
            return whole.lines().map(read).collect();
        }
        assert!(Instant::now() < until, "no row came: {text}");
        let ended = running.ends_within(Duration::from_millis(10));
        assert!(!ended, "it was not to end by itself");
    }
}

#[test]
fn rows_are_there_while_others_still_run() {
    let bench = Bench::new();
    bench.words(&[("quick", "hello"), ("slow", "sleep")]);
    let mut ground = Ground::new(&bench);
    let agent = r#"
import json, sys
step = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        slow = "sleep" in message["task"]["instruction"]
    elif message["type"] == "observation":
        step += 1
        actions = [{"action": "run", "command": "sleep 600" if slow else "echo hello > out.txt"}, {"action": "finish"}]
        print(json.dumps(actions[step - 1]), flush=True)
"#;
    bench.write("agent/words.py", agent);
    let agent = "cmd:python3 agent/words.py";
    let more = ["-c", agent, "--eval-num-workers", "2", "--out", "out"];
    let mut running = ground.begin(&[&BENCH_RUN[..], &more].concat());
    let rows = wait_for_rows(&mut running, &bench.path("out/output.jsonl"));
    assert_eq!(rows[0]["instance_id"], "quick");
    assert_eq!(rows[0]["test_result"]["resolved"], true);
    assert!(bench.path("out/infer_logs/instance_quick.log").is_file());
    running.signal(rustix::process::Signal::INT);
    let (status, said) = running.end();
    assert_eq!(status.code(), Some(130), "{}", said.join("\n"));
    assert_eq!(rows.len(), 1);
    ground.check_clean();
}

#[test]
fn a_key_is_nowhere_in_the_results() {
    let bench = Bench::new();
    bench.words(&[("one", "hello")]);
    let key = "sk-7f31c2d9-bench-0b52aa";
    bench.paid_turns(key, &[run("echo hello > out.txt; env"), finish("Done.")]);
    let called = bench.bench_run(&["-l", "llm", "-i", "5"]).expect(0);
    assert_eq!(called.json()["passed"], 1, "{}", called.stderr());
    let secret = Secret::new(key);
    secret.assert_unsaid(&called);
    let folder = bench.results("paid_maxiter_5");
    assert!(folder.join("output.jsonl").is_file());
    let found = secret.files_with(&bench.path("out"));
    assert!(found.is_empty(), "{found:?}");
    let row = &rows(&folder.join("output.jsonl"))[0];
    assert_eq!(row["metadata"]["llm_config"]["api_key"], "**********");
    assert_eq!(row["metrics"]["accumulated_cost"], 2.0);
    let run = folder.to_str().unwrap();
    for form in ["openhands", "owa"] {
        let out = bench.path(form);
        let out = out.to_str().unwrap();
        bench
            .call(&["export", run, "--format", form, "--out", out])
            .expect(0);
        assert!(secret.files_with(Path::new(out)).is_empty(), "{form}");
    }
}

/// An agent that comes upon a key may put it anywhere: into files that are kept, into a patch, into a name.
#[test]
fn a_key_in_what_was_handed_in_is_nowhere_either() {
    let bench = Bench::new();
    let key = "sk-91ce04b7-handed-in-2d77f0";
    bench.words(&[("one", "hello")]);
    bench.write("words/visible/notes.txt", &format!("key={key}"));
    bench.write(
        "words/initialize.sh",
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m x\n",
    );
    bench.write(
        "words/benchmark.toml",
        "name = 'Words'\nmax_iterations = 5\n[collect]\nfiles = ['out.txt']\npatch = '.'\n",
    );
    let grades = "\
import json, os, sys
nonce = sys.stdin.readline().strip()
found = open('out.txt').read()
verdict = {'nonce': nonce, 'score': 0, 'reason': 'it says ' + found}
print(found, os.listdir('.'))
os.write(3, (json.dumps(verdict) + '\\n').encode())
";
    bench.write(
        "words/verify/evaluate.py",
        &format!("#!/usr/bin/python3\n{grades}"),
    );
    let spreads = "cat notes.txt > out.txt; cp notes.txt \"$(cat notes.txt)\"; cat out.txt; ls";
    bench.paid_turns(key, &[run(spreads), finish("Done.")]);
    let called = bench.bench_run(&["-l", "llm", "-i", "5"]).expect(0);
    assert_eq!(called.json()["failed"], 1, "{}", called.stderr());
    let folder = bench.results("paid_maxiter_5");
    let row = &rows(&folder.join("output.jsonl"))[0];
    assert_eq!(row["test_result"]["files"]["out.txt"], "key=[key]", "{row}");
    let patch = row["test_result"]["git_patch"].as_str().unwrap();
    assert!(patch.contains("+key=[key]"), "{patch}");
    let secret = Secret::new(key);
    secret.assert_unsaid(&called);
    // Nobody tells the exporter what is a key.
    fs::rename(bench.path("config.toml"), bench.path("put-aside")).unwrap();
    let run = folder.to_str().unwrap();
    for form in ["openhands", "owa"] {
        let args = ["export", run, "--format", form, "--out", "out/exported"];
        secret.assert_unsaid(&bench.call(&args).expect(0));
    }
    let exported = &rows(&bench.path("out/exported/output.jsonl"))[0];
    assert_eq!(exported["test_result"], row["test_result"]);
    let found = || secret.files_with(&bench.path("out"));
    assert_eq!(found(), Vec::<std::path::PathBuf>::new());
    // What was kept can still be graded.
    fs::rename(bench.path("put-aside"), bench.path("config.toml")).unwrap();
    let again = ["-l", "llm", "-i", "5", "--mode", "validate-only"];
    let called = bench.bench_run(&again).expect(0);
    assert_eq!(called.json()["failed"], 1, "{}", called.stderr());
    secret.assert_unsaid(&called);
    assert_eq!(found(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn answers_are_logged_where_the_section_asks_for_them_under_the_models_own_name() {
    let bench = Bench::new();
    bench.words(&[("one", "hello"), ("owner/two 2", "world")]);
    let model = bench.says_hello();
    let section = |more: &str| format!("[llm.eval_hello]\nmodel = '{model}'\n{more}\n");
    bench.write("config.toml", &section("log_completions = true"));
    bench.bench_run(&["-l", "eval_hello", "-i", "5"]).expect(0);
    let folder = bench.results(LEAF);
    for id in ["one", "owner_two_2"] {
        let folder = folder.join("llm_completions").join(id);
        let mut names: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), 2, "{names:?}");
        for (turn, name) in names.iter().enumerate() {
            let text = fs::read_to_string(folder.join(name)).unwrap();
            let told: Value = serde_json::from_str(&text).unwrap();
            let at = name
                .strip_prefix("mock__turns_hello-")
                .and_then(|rest| rest.strip_suffix(".json"));
            let at: f64 = at.unwrap().parse().unwrap();
            assert!(
                (told["timestamp"].as_f64().unwrap() - at).abs() < 1e-5,
                "{name}"
            );
            let messages = told["messages"].as_array().unwrap();
            assert_eq!(messages.len(), 2 + 2 * turn, "{messages:?}");
            assert!(text.contains("to out.txt."), "{text}");
            assert!(told["kwargs"]["tools"].is_array(), "{told}");
            assert!(told["response"].is_object(), "{told}");
            assert_eq!(told["args"], json!([]));
        }
    }
    for row in rows(&folder.join("output.jsonl")) {
        let metrics = &row["metrics"];
        let one = &metrics["token_usages"][0];
        let late = &metrics["response_latencies"][1];
        for told in [one, late, &metrics["accumulated_token_usage"]] {
            assert_eq!(told["model"], model, "{metrics}");
        }
        let action = &row["history"].as_array().unwrap()[2];
        let snapshot = &action["llm_metrics"]["accumulated_token_usage"];
        assert_eq!(snapshot["model"], model, "{action}");
    }

    bench.write("config.toml", &section(""));
    bench.bench_run(&["-l", "eval_hello", "-i", "6"]).expect(0);
    let quiet = bench.results("turns_hello_maxiter_6");
    assert!(!quiet.join("llm_completions").exists());
}
