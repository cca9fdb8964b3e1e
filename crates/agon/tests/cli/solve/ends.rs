//! How a session ends, and the status that says so.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::process::Stdio;

use serde_json::json;

use super::{greeter, named, session, trajectory};
use crate::scripted::{assert_shape, finish, rows, run};
use crate::support::{Bench, Called};

#[test]
fn the_folder_is_really_changed_and_stays_its_owners() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let project = bench.path("project");
    bench.write("project/notes.txt", "mine\n");
    // Only root can give it away; anybody else owns it already.
    for path in [project.clone(), project.join("notes.txt")] {
        chown(path, Some(12_345), Some(12_345)).ok();
    }
    let called = bench.call(&["solve", "-t", "Greet.", "-l", &model, "-d", "project"]);
    let called = called.expect(0);
    assert_eq!(called.stdout(), "It is written.\n");
    assert!(called.stderr().contains("$ echo hello > greeting.txt"));
    let greeting = project.join("greeting.txt");
    assert_eq!(fs::read_to_string(&greeting).unwrap(), "hello\n");
    let owner = |path: &std::path::Path| {
        let about = fs::metadata(path).unwrap();
        (about.uid(), about.gid())
    };
    assert_eq!(owner(&greeting), owner(&project));
    assert_eq!(fs::read(project.join("notes.txt")).unwrap(), b"mine\n");
    assert_eq!(
        fs::read_dir(&project).unwrap().count(),
        2,
        "nothing else is left in it"
    );
}

#[test]
fn the_folder_is_this_one_unless_another_is_named() {
    let bench = Bench::new();
    let model = greeter(&bench);
    bench
        .call(&["solve", "-t", "Greet.", "-l", &model])
        .expect(0);
    assert!(bench.path("greeting.txt").is_file());
}

#[test]
fn the_task_is_a_text_a_file_or_what_is_piped_in() {
    for form in ["text", "file", "both", "input"] {
        let bench = Bench::new();
        let model = greeter(&bench);
        bench.write("task.md", "Greet from a file.\n");
        let args: &[&str] = match form {
            "text" => &["-t", "Greet from a text."],
            "file" => &["-f", "task.md"],
            "both" => &["-t", "Greet from a text.", "-f", "task.md"],
            _ => &[],
        };
        let base = ["solve", "-l", &model, "-d", "project"];
        let mut command = bench.agon(&[&base[..], args].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // It is not read where the task was named.
        input.write_all(b"Greet from the input.").ok();
        drop(input);
        Called(child.wait_with_output().unwrap()).expect(0);
        let asked = match form {
            "text" => "Greet from a text.",
            "input" => "Greet from the input.",
            _ => "Greet from a file.\n",
        };
        let events = trajectory(&bench);
        let user = events
            .iter()
            .find(|event| event["source"] == "user")
            .unwrap();
        assert_eq!(user["args"]["content"], asked, "{form}");
    }
}

#[test]
fn the_json_says_what_became_of_it() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let called = bench.call(&[
        "solve", "-t", "Greet.", "-l", &model, "-d", "project", "--json",
    ]);
    let json = called.expect(0).json();
    let folder = json["session"].as_str().unwrap();
    assert_eq!(bench.path(folder), session(&bench));
    assert_shape("solve-json", json);
}

#[test]
fn a_limit_of_steps_is_status_5() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let args = [
        "solve", "-t", "Greet.", "-l", &model, "-d", "project", "-i", "1", "--json",
    ];
    let json = bench.call(&args).expect(5).json();
    assert_eq!(json["iterations"], 1);
    assert_eq!(json["agent_state"], "error");
    let error = json["last_error"].as_str().unwrap();
    assert!(error.starts_with("RuntimeError: "), "{error}");
    assert!(
        bench.path("project/greeting.txt").is_file(),
        "what it did stays"
    );
}

#[test]
fn so_is_a_limit_of_money() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    bench.paid_turns(
        "sk-none",
        &[run("echo hello > greeting.txt"), finish("Done.")],
    );
    let args = [
        "solve", "-t", "Greet.", "-d", "project", "-b", "0.50", "--json",
    ];
    let json = bench.call(&args).expect(5).json();
    assert_eq!(json["metrics"]["max_budget_per_task"], 0.5);
    assert_eq!(json["metrics"]["accumulated_cost"], 1.0);
}

#[test]
fn an_agent_that_refuses_is_status_4() {
    let bench = Bench::new();
    let agent = r#"
import json, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        print(json.dumps({"action": "reject", "reason": "not with me"}), flush=True)
"#;
    bench.write("agent/no.py", agent);
    fs::create_dir(bench.path("project")).unwrap();
    let args = [
        "solve",
        "-t",
        "Do harm.",
        "-c",
        "cmd:python3 agent/no.py",
        "-d",
        "project",
        "--json",
    ];
    let json = bench.call(&args).expect(4).json();
    assert_eq!(json["agent_state"], "rejected");
    assert_eq!(json["last_error"], "");
}

/// As in the original, whose new configurations say so.
#[test]
fn no_money_at_all_is_no_limit() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    bench.paid_turns("sk-none", &[run("true"), finish("Done.")]);
    let args = ["solve", "-t", "Greet.", "-d", "project"];
    bench.call(&[&args[..], &["-b", "0"]].concat()).expect(0);
    let config = fs::read_to_string(bench.path("config.toml")).unwrap();
    bench.write(
        "config.toml",
        &format!("{config}[core]\nmax_budget_per_task = 0.0\n"),
    );
    bench.call(&args).expect(0);
    bench.call(&[&args[..], &["-b", "0.5"]].concat()).expect(5);
    bench.write(
        "config.toml",
        &format!("{config}[core]\nmax_budget_per_task = 0.5\n"),
    );
    bench.call(&args).expect(5);
    bench.call(&[&args[..], &["-b", "0"]].concat()).expect(0);
    bench.words(&[("one", "hello")]);
    let called = bench.bench_run(&["-l", "llm", "-b", "0"]).expect(0);
    assert_eq!(called.json()["failed"], 1);
    let row = &rows(&bench.results("paid_maxiter_8").join("output.jsonl"))[0];
    assert_eq!(row["metrics"]["accumulated_cost"], 2.0, "it was played");
    assert_eq!(
        row["metrics"]["max_budget_per_task"],
        serde_json::Value::Null
    );
}

#[test]
fn one_that_only_repeats_itself_is_status_6() {
    let bench = Bench::new();
    greeter(&bench);
    let model = bench.turns("loop", &[run("false")]);
    let args = [
        "solve", "-t", "Greet.", "-l", &model, "-d", "project", "--json",
    ];
    let json = bench.call(&args).expect(6).json();
    let error = json["last_error"].as_str().unwrap();
    assert!(error.starts_with("AgentStuckInLoopError: "), "{error}");
    assert!(json["iterations"].as_u64().unwrap() <= 4);
}

#[test]
fn a_model_that_fails_and_an_agent_that_crashes_are_status_1() {
    let bench = Bench::new();
    greeter(&bench);
    bench.write("agent/broken.py", "import no_such_module\n");
    let down = json!({ "fault": "authentication", "why": "no such key" });
    let down = bench.turns("down", &[run("true"), down]);
    let base = ["solve", "-t", "Greet.", "-d", "project", "--json"];
    let json = bench
        .call(&[&base[..], &["-l", &down]].concat())
        .expect(1)
        .json();
    assert_eq!(json["iterations"], 1);
    let error = json["last_error"].as_str().unwrap();
    assert!(error.contains("no such key"), "{error}");
    let crashed = [&base[..], &["-c", "cmd:python3 agent/broken.py"]].concat();
    let called = bench.call(&crashed).expect(1);
    let error = called.json()["last_error"].as_str().unwrap().to_owned();
    assert!(error.contains("no_such_module"), "{error}");
}

#[test]
fn messages_are_answered_by_nobody_or_by_whoever_is_there() {
    let asks = [
        json!("What is your name?"),
        finish("Hello, whoever you are."),
    ];
    let bench = Bench::new();
    greeter(&bench);
    let model = bench.turns("ask", &asks);
    let args = ["solve", "-t", "Greet me.", "-l", &model, "-d", "project"];
    let called = bench.call(&args).expect(0);
    assert!(called.stderr().contains("agent: What is your name?"));
    let events = trajectory(&bench);
    assert_eq!(
        named(&events, "action"),
        ["system", "message", "message", "message", "finish"]
    );

    for (typed, answer) in [("Ann\n", Some("Ann")), ("/exit\n", None), ("", None)] {
        let bench = Bench::new();
        greeter(&bench);
        bench.turns("ask", &asks);
        let mut command = bench.agon(&[&args[..], &["--interactive"]].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(typed.as_bytes())
            .unwrap();
        let called = Called(child.wait_with_output().unwrap()).expect(0);
        let events = trajectory(&bench);
        let users = events.iter().filter(|event| event["source"] == "user");
        let said: Vec<&str> = users
            .filter_map(|event| event["args"]["content"].as_str())
            .collect();
        match answer {
            Some(answer) => {
                assert_eq!(said, ["Greet me.", answer]);
                assert_eq!(called.stdout(), "Hello, whoever you are.\n");
            }
            None => {
                assert!(
                    !named(&events, "action").contains(&"finish".to_owned()),
                    "{typed:?}"
                );
                assert_eq!(called.stdout(), "What is your name?\n", "its last words");
            }
        }
    }
}
