//! Agents that go round in circles, with a real shell and a real interpreter: what ends their turn, and what
//! must not.

use std::fs;

use serde_json::{Value, json};

use crate::scripted::{finish, run};
use crate::support::Bench;

fn cell(code: &str) -> Value {
    json!({ "tool_calls": [{ "name": "execute_ipython_cell", "input": { "code": code } }] })
}

fn said(text: &str) -> Value {
    json!({ "text": text })
}

/// The exit status of a session with these answers, and the actions that its trajectory has.
#[track_caller]
fn solved(answers: &[Value], status: i32) -> usize {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    let model = bench.turns("answers", &[answers, &[finish("Done.")]].concat());
    bench
        .call(&["solve", "-t", "Go.", "-l", &model, "-d", "project"])
        .expect(status);
    let events = super::trajectory(&bench);
    let of_agent = |event: &&Value| event["source"] == "agent" && event["action"].is_string();
    let deeds = events.iter().filter(of_agent);
    deeds.filter(|event| event["action"] != "system").count()
}

#[test]
fn the_same_cell_that_is_no_python() {
    for code in ["print(\"abc", "f(1 2)", "def f():", "  x = 1\n y = 2"] {
        assert_eq!(solved(&vec![cell(code); 9], 6), 3, "{code}");
        solved(&vec![cell(code); 2], 0);
    }
    let other = [
        cell("print(\"abc"),
        cell("print('abc"),
        cell("print(\"abcd"),
    ];
    solved(&other, 0);
}

#[test]
fn the_same_cell_that_fails() {
    assert_eq!(solved(&vec![cell("nope"); 9], 6), 4);
    solved(&vec![cell("nope"); 3], 0);
    let counts = "n = globals().get('n', 0) + 1\nraise ValueError(n)";
    solved(&vec![cell(counts); 9], 0);
}

#[test]
fn failing_cells_and_commands_in_turn() {
    let rounds = |round: &[Value]| vec![round.to_vec(); 4].concat();
    let two = rounds(&[cell("nope"), run("echo b")]);
    assert_eq!(solved(&two, 6), 6);
    let three = rounds(&[cell("nope"), run("echo b"), cell("1")]);
    assert_eq!(solved(&three, 6), 9);
    solved(&rounds(&[cell("nope"), run("date +%N")]), 0);
}

/// The second nudge says more than the first.
#[test]
fn the_same_message() {
    assert_eq!(solved(&vec![said("hello"); 5], 6), 3);
    solved(&vec![said("hello"); 2], 0);
    solved(
        &[said("hello"), run("echo"), said("hello"), said("hello")],
        0,
    );
}
