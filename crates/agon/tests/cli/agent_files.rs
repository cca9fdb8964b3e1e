//! Which files of its folder a `cmd:` agent is given, what the record says about them, and what is said when
//! they hold the answers.

use std::fs;

use agon::core::Action;
use agon::core::verdict::Outcome;
use agon::prelude::EventBody;
use agon::store::AgentFiles;
use serde_json::Value;

use crate::secrets::Secret;
use crate::support::Bench;

const KEY: &str = "sk-3f90d1aa-beside-the-agent-77c2";
const CODE: &str = "hidden-4711-code";

/// Says what files it sees, and finishes with what `answer()` gives.
const LOOKER: &str = r#"
import json, os, sys
def seen():
    for folder, _, names in os.walk("/agent"):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), "/agent")
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "observation":
        continue
    if message["step"] == 1:
        thought = {"cwd": os.getcwd(), "seen": sorted(seen())}
        print(json.dumps({"action": "think", "thought": json.dumps(thought)}), flush=True)
    else:
        print(json.dumps({"action": "finish", "result": answer()}), flush=True)
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.suite(&[("code", &format!(
        "name: Find the code\ntask: Say the code.\nchecks:\n  - {{ type: returned_result, equals: {CODE} }}\n"
    ))]);
    bench
}

fn looker(answer: &str) -> String {
    format!("import helper\nanswer = lambda: {answer}\n{LOOKER}")
}

/// What the agent of the only trial saw.
#[track_caller]
fn seen(bench: &Bench) -> Vec<String> {
    let events = bench.reader().events(&bench.trial()).unwrap();
    let thought = events.iter().find_map(|event| match &event.body {
        EventBody::Action(Action::Think { thought }) => Some(thought.clone()),
        _ => None,
    });
    let thought: Value = serde_json::from_str(&thought.unwrap()).unwrap();
    assert_eq!(thought["cwd"], "/agent");
    serde_json::from_value(thought["seen"].clone()).unwrap()
}

#[track_caller]
fn recorded(bench: &Bench) -> AgentFiles {
    let reader = bench.reader();
    reader.manifest().agent.files.clone().unwrap()
}

fn why<'f>(files: &'f AgentFiles, name: &str) -> Option<&'f str> {
    let one = files.left_out.iter().find(|one| one.name == name)?;
    Some(&one.why)
}

/// Break B6 of the red team: the folder of the agent is the working folder, with everything in it.
#[test]
fn configuration_keys_tapes_and_data_beside_an_agent_are_not_given_to_it() {
    let bench = bench();
    bench.write("agent.py", &looker("open('words/prompt.txt').read()"));
    bench.write("helper.py", "");
    bench.write("lib/more.py", "");
    bench.write("words/prompt.txt", "x");
    let config = format!("[llm.big]\nmodel = \"mock/echo\"\napi_key = \"{KEY}\"\n");
    bench.write("config.toml", "[llm.other]\nmodel = \"mock/echo\"\n");
    bench.write("mine.toml", &config);
    bench.write("backup.py", &config);
    bench.write("notes.txt", KEY);
    bench.write(".env", "A=B\n");
    bench.write("data.csv", "question,answer\n");
    bench.write("old.tape", "{\"agon_tape\":1}\n");
    bench.write("other/suite.toml", "");
    bench.write("other/check.py", "");
    bench.write("runs/old/trials.jsonl", "");
    fs::hard_link(bench.path("mine.toml"), bench.path("linked.py")).unwrap();
    let args = [
        "--agent",
        "cmd:python3 agent.py",
        "--model",
        "big",
        "--config",
        "mine.toml",
        "--record-tape",
        "calls.jsonl",
    ];
    let called = bench.run(&args).expect(0);
    assert_eq!(seen(&bench), ["agent.py", "helper.py", "lib/more.py"]);
    let files = recorded(&bench);
    assert!(files.shared);
    assert_eq!(files.taken, ["agent.py", "helper.py", "lib/more.py"]);
    for (name, part) in [
        ("config.toml", "the run itself"),
        ("mine.toml", "the run itself"),
        ("linked.py", "the run itself"),
        ("suite", "the run itself"),
        ("run", "the run itself"),
        ("runs", "the run itself"),
        ("calls.jsonl", "the run itself"),
        (".env", "the run itself"),
        ("backup.py", "holds a key"),
        ("other", "a suite"),
        ("data.csv", "not program text"),
        ("old.tape", "not program text"),
        ("words", "not program text"),
    ] {
        let why = why(&files, name).unwrap_or_else(|| panic!("{name}: {files:?}"));
        assert!(why.contains(part), "{name}: {why}");
    }
    let said = called.stderr();
    assert!(said.contains("not given backup.py: a key"), "{said}");
    assert!(said.contains("agent.py names words, which"), "{said}");
    let secret = Secret::new(KEY);
    secret.assert_unsaid(&called);
    assert!(secret.files_with(&bench.path("run")).is_empty());
}

#[test]
fn a_folder_of_its_own_goes_to_the_agent_but_for_secrets() {
    let bench = bench();
    bench.write("config.toml", &format!("[llm]\napi_key = \"{KEY}\"\n"));
    bench.write("bot/agent.py", &looker("1"));
    bench.write("bot/helper.py", "");
    bench.write("bot/prompt.txt", "");
    bench.write("bot/data/rows.csv", "");
    bench.write("bot/.env", "");
    bench.write("bot/server.pem", "-----BEGIN PRIVATE KEY-----\n");
    bench.write("bot/calls", "{\"agon_tape\":1}\n");
    // No model is asked: keys are known all the same.
    bench.write("bot/settings.ini", &format!("key = {KEY}\n"));
    std::os::unix::fs::symlink("../config.toml", bench.path("bot/config.toml")).unwrap();
    std::os::unix::fs::symlink("../suite", bench.path("bot/suite")).unwrap();
    let agent = ["--agent", "cmd:python3 bot/agent.py"];
    bench.run(&agent).expect(0);
    let all = ["agent.py", "data/rows.csv", "helper.py", "prompt.txt"];
    assert_eq!(seen(&bench), all);
    let files = recorded(&bench);
    assert!(!files.shared);
    assert_eq!(
        (files.taken.as_slice(), files.count),
        (&all.map(str::to_owned)[..], 4)
    );
    for (name, part) in [
        (".env", "a dot"),
        ("server.pem", "private key"),
        ("calls", "a tape"),
        ("settings.ini", "holds a key"),
        ("config.toml", "the run itself"),
        ("suite", "the run itself"),
    ] {
        let why = why(&files, name).unwrap_or_else(|| panic!("{name}: {files:?}"));
        assert!(why.contains(part), "{name}: {why}");
    }
}

#[test]
fn what_is_asked_for_belongs_to_the_agent_also_when_the_run_goes_on() {
    let bench = bench();
    bench.write("agent.py", &looker("1"));
    bench.write("helper.py", "");
    bench.write("words/prompt.txt", "");
    bench.write(".words", "");
    bench.write("config.toml", "");
    let agent = ["--agent", "cmd:python3 agent.py"];
    let files = [
        "--agent-files",
        "words",
        "--agent-files",
        ".w*",
        "--agent-files",
        "*.toml",
    ];
    bench.run(&[&agent[..], &files].concat()).expect(0);
    assert_eq!(
        seen(&bench),
        [".words", "agent.py", "helper.py", "words/prompt.txt"]
    );
    bench.call(&["run", "--resume", "run"]).expect(0);
    let without = bench.run(&agent).expect(2).stderr();
    assert!(without.contains("agent"), "{without}");
    for (args, part) in [
        (["--agent", "noop", "--agent-files", "x"], "cmd:PROGRAM"),
        (
            ["--agent", "cmd:python3 agent.py", "--agent-files", "[x"],
            "--agent-files [x",
        ),
    ] {
        let called = bench
            .call(&[&["run", "suite"], &args[..]].concat())
            .expect(2);
        assert!(called.stderr().contains(part), "{}", called.stderr());
    }
}

#[test]
fn a_program_with_a_key_or_a_configuration_by_name_is_refused() {
    let bench = bench();
    bench.write("config.toml", &format!("[llm]\napi_key = \"{KEY}\"\n"));
    bench.write("bot/agent.py", &format!("KEY = '{KEY}'\n"));
    bench.write("agent.py", "");
    for (agent, part) in [
        ("cmd:python3 bot/agent.py", "names agent.py"),
        ("cmd:python3 agent.py config.toml", "names config.toml"),
        ("cmd:python3 config.toml", "names config.toml"),
    ] {
        let called = bench.run(&["--agent", agent]).expect(2);
        let said = called.stderr();
        assert!(said.contains(part) && said.contains("gateway"), "{said}");
        Secret::new(KEY).assert_unsaid(&called);
        assert!(!bench.path("run").exists());
    }
}

#[test]
fn answers_in_the_agents_own_files_are_a_sign_in_the_record_and_in_every_report() {
    let bench = bench();
    bench.write(
        "bot/agent.py",
        &looker("json.load(open('known.json'))['code']"),
    );
    bench.write("bot/helper.py", "");
    bench.write("bot/known.json", &format!("{{\"code\": \"{CODE}\"}}"));
    let called = bench
        .run(&["--agent", "cmd:python3 bot/agent.py"])
        .expect(0);
    let said = called.stderr();
    assert!(
        said.contains("hold answers of test/code (known.json: what a check expects)"),
        "{said}"
    );
    assert!(said.contains("Answers of 1 task stand in"), "{said}");
    assert_eq!(
        bench.trial().outcome,
        Outcome::Passed,
        "a sign changes no score"
    );
    let files = recorded(&bench);
    assert_eq!((files.answers.len(), files.answered_tasks), (1, 1));
    assert_eq!(files.answers[0].task.to_string(), "test/code");
    let record = fs::read_to_string(bench.path("run/run.json")).unwrap();
    assert!(!record.contains(CODE), "{record}");
    for format in ["table", "md", "json", "html", "junit"] {
        let report = bench.call(&["report", "run", "--format", format]).expect(0);
        let told = report.stdout();
        assert!(
            told.contains("Answers of 1 task stand in"),
            "{format}: {told}"
        );
    }
}

#[test]
fn an_agent_that_finds_the_answer_is_under_no_suspicion() {
    let bench = bench();
    bench.write(
        "bot/agent.py",
        &looker("'hidden-%d-code' % 4711 + 'test/code Say the code.'[:0]"),
    );
    bench.write("bot/helper.py", "");
    let called = bench
        .run(&["--agent", "cmd:python3 bot/agent.py"])
        .expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Passed);
    assert!(
        !called.stderr().contains("nswers of"),
        "{}",
        called.stderr()
    );
    assert_eq!(recorded(&bench).answered_tasks, 0);
}

/// Only the files that the command names are known.
#[test]
fn programs_of_the_host_are_looked_into_as_far_as_they_are_named() {
    let bench = bench();
    let code = format!(
        "answer = lambda: '{CODE}'\n{}",
        LOOKER.replace("/agent", "/nowhere")
    );
    let path = bench.write("bot/agent.py", &code).display().to_string();
    let agent = format!("cmd-host:python3 {path}");
    let called = bench.run(&["--agent", &agent]).expect(0);
    let said = called.stderr();
    assert!(said.contains("Answers of 1 task stand in"), "{said}");
    assert!(said.contains("unconfined"), "{said}");
    assert_eq!(recorded(&bench).taken, [path.as_str()]);
    fs::remove_dir_all(bench.path("run")).unwrap();
    let called = bench.run(&["--runner", &format!("cmd:python3 {path}")]);
    assert!(
        called.stderr().contains("Answers of 1 task stand in"),
        "{}",
        called.stderr()
    );
}
