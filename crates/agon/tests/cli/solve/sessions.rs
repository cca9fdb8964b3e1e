//! Sessions and what is left of them: names, trajectories, interruptions.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{greeter, named, session, trajectory};
use crate::killed::ground::Ground;
use crate::scripted::{finish, run};
use crate::support::Bench;

#[test]
fn a_trajectory_is_kept_and_played_again_without_a_model() {
    let bench = Bench::new();
    let model = greeter(&bench);
    let base = ["solve", "-t", "Greet.", "-d", "project"];
    bench
        .call(&[&base[..], &["-l", &model, "-n", "first"]].concat())
        .expect(0);
    let kept = "runs/solve-first/trajectory.json";
    assert_eq!(session(&bench), bench.path("runs/solve-first"));
    let events = trajectory(&bench);
    assert_eq!(
        named(&events, "action"),
        ["system", "message", "run", "finish"]
    );
    assert_eq!(named(&events, "observation"), ["run"]);
    let ids: Vec<u64> = events
        .iter()
        .filter_map(|event| event["id"].as_u64())
        .collect();
    assert_eq!(ids, Vec::from_iter(0..events.len() as u64));

    fs::remove_file(bench.path("project/greeting.txt")).unwrap();
    let again = [
        "solve",
        "-d",
        "project",
        "--replay-trajectory",
        kept,
        "-n",
        "again",
    ];
    let called = bench.call(&again).expect(0);
    assert_eq!(called.stdout(), "It is written.\n");
    assert!(bench.path("project/greeting.txt").is_file());
    let text = fs::read_to_string(bench.path("runs/solve-again/trajectory.json")).unwrap();
    let replayed: Vec<Value> = serde_json::from_str(&text).unwrap();
    let said = |events: &[Value], name: &str| -> Vec<Value> {
        let of = |event: &&Value| event["action"] == name;
        events
            .iter()
            .filter(of)
            .map(|event| event["args"].clone())
            .collect()
    };
    for name in ["run", "finish"] {
        assert_eq!(
            said(&replayed, name).len(),
            said(&events, name).len(),
            "{name}"
        );
    }
    assert_eq!(
        said(&replayed, "run")[0]["command"],
        said(&events, "run")[0]["command"]
    );
    assert_eq!(
        said(&replayed, "message"),
        said(&events, "message"),
        "the same task"
    );
}

#[test]
fn what_follows_a_trajectory_is_asked_of_the_model() {
    let bench = Bench::new();
    let limited = bench.turns("greet", &[run("echo hello > greeting.txt")]);
    fs::create_dir(bench.path("project")).unwrap();
    let base = ["solve", "-d", "project"];
    let first = ["-t", "Greet.", "-l", &limited, "-i", "1", "-n", "first"];
    bench.call(&[&base[..], &first].concat()).expect(5);
    let model = bench.turns("goes-on", &[run("false"), finish("Then I end it.")]);
    let again = [
        "-l",
        &model,
        "--replay-trajectory",
        "runs/solve-first/trajectory.json",
    ];
    let called = bench.call(&[&base[..], &again].concat()).expect(0);
    assert_eq!(called.stdout(), "Then I end it.\n");
}

#[test]
fn interrupted_it_leaves_no_sandbox_and_what_was_done() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    let mut ground = Ground::new(&bench);
    // The program's name says whose it is, wherever it may be found later.
    let sleep = format!("exec -a {} sleep 600", ground.mark);
    let model = bench.turns(
        "sleep",
        &[run("echo begun > begun.txt"), run(&format!("({sleep})"))],
    );
    let args = [
        "solve", "-t", "Sleep.", "-d", "project", "-l", &model, "-n", "cut",
    ];
    let mut solving = ground.begin(&args);
    solving.hear("sleep 600");
    solving.signal(Signal::INT);
    let (status, said) = solving.end();
    assert_eq!(status.code(), Some(130), "{}", said.join("\n"));
    ground.check_clean();
    let events = trajectory(&bench);
    assert_eq!(
        named(&events, "action"),
        ["system", "message", "run", "run"]
    );
    assert!(bench.path("project/begun.txt").is_file());
}

#[test]
fn interrupted_while_a_person_is_asked_it_does_not_wait_for_the_answer() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    let model = bench.turns("ask", &[json!("What is your name?")]);
    let args = [
        "solve",
        "-t",
        "Ask.",
        "-d",
        "project",
        "-l",
        &model,
        "--interactive",
    ];
    let mut child = bench
        .agon(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let asked = lines
        .by_ref()
        .map(Result::unwrap)
        .any(|line| line.contains("your answer"));
    assert!(asked);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    for line in lines {
        line.unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(held);
}

/// In the agent's own words: in its record, and on the screen.
#[test]
fn what_is_said_to_the_agent_names_the_tools_that_it_has() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    bench.write("project/a.txt", "a\n");
    let create = json!({ "command": "create", "path": "/workspace/a.txt", "file_text": "b\n" });
    let create = json!({ "tool_calls": [{ "name": "str_replace_editor", "input": create }] });
    let slow = json!({ "command": "echo begun; sleep 1000", "timeout": 1 });
    let slow = json!({ "tool_calls": [{ "name": "execute_bash", "input": slow }] });
    let model = bench.turns("words", &[create, slow, run("ls"), finish("Done.")]);
    let called = bench
        .call(&["solve", "-t", "x", "-l", &model, "-d", "project"])
        .expect(0);
    let kept = fs::read_to_string(super::session(&bench).join("trajectory.json")).unwrap();
    for said in [kept, called.stderr()] {
        for right in [
            "change it with `str_replace`",
            "`is_input: true`",
            "(with `timeout` for longer)",
        ] {
            assert!(said.contains(right), "{right}: {said}");
        }
        for wrong in ["`edit`", "`input: true`", "`wait`"] {
            assert!(!said.contains(wrong), "{wrong}: {said}");
        }
    }
}
