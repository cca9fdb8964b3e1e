//! The same name again goes on with the session: the model sees what it did, and nothing is done twice.

use std::fs;

use agon_core::{Event, EventBody};
use agon_store::RunFolder;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{named, trajectory};
use crate::killed::ground::Ground;
use crate::scripted::{finish, run};
use crate::support::{Bench, Called};

/// A working folder, and a model that has answers for more than one call. It looks how often it was heard,
/// so it begins anew if it is not shown what it said before.
fn writer(bench: &Bench) -> String {
    fs::create_dir(bench.path("project")).unwrap();
    let answers = [
        run("echo one >> log.txt; echo of-the-first"),
        finish("First."),
        run("echo two >> log.txt"),
        finish("Second."),
    ];
    bench.turns("writes", &answers)
}

fn solve(bench: &Bench, model: &str, more: &[&str]) -> Called {
    let base = ["solve", "-n", "mine", "-l", model, "--json"];
    bench.call(&[&base[..], more].concat())
}

fn log(bench: &Bench) -> String {
    fs::read_to_string(bench.path("project/log.txt")).unwrap()
}

/// What the model was asked, in every call of the session.
fn asked(bench: &Bench) -> Vec<Value> {
    let folder = RunFolder::at(bench.path("runs/solve-mine"));
    let text = fs::read_to_string(folder.path().join("session.jsonl")).unwrap();
    let events = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Event>(line).unwrap());
    events
        .filter_map(|event| match event.body {
            EventBody::Model(call) => Some(folder.said(&call.request.unwrap()).unwrap()),
            _ => None,
        })
        .collect()
}

/// Who said what in a request, in short.
fn told(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] != "system")
        .map(|message| {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls: String = calls.map(|call| call["function"].to_string()).collect();
            let content = match &message["content"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                parts => parts.to_string(),
            };
            format!("{}: {content}{calls}", message["role"].as_str().unwrap())
        })
        .collect()
}

fn said_by_user(events: &[Value]) -> Vec<String> {
    let by_user = events.iter().filter(|event| event["source"] == "user");
    let content = |event: &Value| event["args"]["content"].as_str().unwrap().to_owned();
    by_user.map(content).collect()
}

#[track_caller]
fn assert_numbered(events: &[Value]) {
    let ids: Vec<u64> = events.iter().map(|e| e["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, Vec::from_iter(0..events.len() as u64));
}

#[test]
fn the_model_sees_what_it_did_and_nothing_is_done_twice() {
    let bench = Bench::new();
    let model = writer(&bench);
    let first = solve(&bench, &model, &["-t", "Write one.", "-d", "project"]);
    let first = first.expect(0).json();
    // The folder is the session's own.
    let second = solve(&bench, &model, &["-t", "Write two."])
        .expect(0)
        .json();
    assert_eq!(second["message"], "Second.");
    assert_eq!(log(&bench), "one\ntwo\n");

    let asked = asked(&bench);
    assert_eq!(asked.len(), 4);
    let told = told(&asked[2]);
    let parts = [
        ["user: ", "Write one."],
        ["assistant: ", "echo one >> log.txt"],
        ["tool: ", "of-the-first"],
        ["assistant: ", "First."],
        ["tool: ", "over"],
        ["user: ", "Write two."],
    ];
    assert_eq!(told.len(), parts.len(), "{told:#?}");
    for (told, parts) in told.iter().zip(parts) {
        assert!(told.starts_with(parts[0]), "{told}");
        assert!(told.contains(parts[1]), "{told}");
    }
    assert!(told[2].contains("exit code 0"), "{told:?}");

    let events = trajectory(&bench);
    assert_numbered(&events);
    assert_eq!(
        named(&events, "action"),
        [
            "system", "message", "run", "finish", "message", "run", "finish"
        ]
    );
    assert_eq!(named(&events, "observation"), ["run", "run"]);
    assert_eq!(said_by_user(&events), ["Write one.", "Write two."]);
    let runs: Vec<&Value> = events
        .iter()
        .filter(|e| e["observation"] == "run")
        .collect();
    assert!(runs.iter().all(|seen| {
        let cause = seen["cause"].as_u64().unwrap() as usize;
        events[cause]["args"]["command"] == seen["extras"]["command"]
    }));

    // Steps are counted anew, what it cost is not.
    assert_eq!(second["iterations"], 2);
    let usages = |json: &Value| json["metrics"]["token_usages"].as_array().unwrap().len();
    assert_eq!((usages(&first), usages(&second)), (2, 4));
}

#[test]
fn every_call_is_remembered_word_for_word() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    let list = json!([{ "id": "1", "title": "Do it", "status": "in_progress" }]);
    let turns = ["a", "b", "c"].map(|name| {
        let several = json!({ "text": format!("I do {name}."), "tool_calls": [
            { "name": "execute_bash", "input": { "command": format!("echo {name} >> log.txt") } },
            { "name": "task_tracker", "input": { "command": "plan", "task_list": list } },
            { "name": "execute_bash", "input": { "command": "no-such-program", "timeout": 60 } },
        ] });
        let look = json!({ "tool_calls": [
            { "name": "task_tracker", "input": { "command": "view" } },
            { "name": "str_replace_editor", "input": { "command": "view", "path": "log.txt" } },
        ] });
        [
            several,
            json!(format!("Is {name} right?")),
            look,
            finish(name),
        ]
    });
    let model = bench.turns("three", turns.as_flattened());
    for task in ["Task a.", "Task b.", "Task c."] {
        solve(&bench, &model, &["-t", task, "-d", "project"]).expect(0);
    }
    assert_eq!(log(&bench), "a\nb\nc\n");
    let asked: Vec<Vec<String>> = asked(&bench).iter().map(told).collect();
    assert_eq!(asked.len(), 12);
    for pair in asked.windows(2) {
        let before = &pair[0];
        assert_eq!(pair[1][..before.len()], before[..]);
    }
    let last = asked.last().unwrap().join("\n");
    for part in [
        "Do it",
        "The list has one task now.",
        "# Task list",
        "exit code 127",
    ] {
        assert_eq!(last.matches(part).count() % 3, 0, "{part}: {last}");
        assert!(last.contains(part), "{part}: {last}");
    }
    assert_numbered(&trajectory(&bench));
}

#[test]
fn after_an_error_it_is_told_to_get_back_on_track() {
    let bench = Bench::new();
    let model = writer(&bench);
    let first = ["-t", "Write one.", "-d", "project", "-i", "1"];
    solve(&bench, &model, &first).expect(5);
    // The limit is that of the call: it may take two steps more.
    let json = solve(&bench, &model, &["-t", "Stop it.", "-i", "2"]).expect(0);
    assert_eq!(json.json()["iterations"], 1);
    assert_eq!(log(&bench), "one\n");
    let said = said_by_user(&trajectory(&bench));
    assert_eq!(said.len(), 2);
    assert!(said[1].contains("RuntimeError: the turn ended after 1 step"));
    assert!(said[1].contains("get back on track"), "{said:?}");
    assert!(said[1].ends_with("Stop it."), "{said:?}");
    // Now all is well, and it is only told what is to be done.
    solve(&bench, &model, &["-t", "Write two."]).expect(0);
    let said = said_by_user(&trajectory(&bench));
    assert_eq!(said[2], "Write two.");
    assert_eq!(log(&bench), "one\ntwo\n");
}

#[test]
fn without_a_word_it_goes_on_where_it_stood() {
    let bench = Bench::new();
    let model = writer(&bench);
    let first = ["-t", "Write one.", "-d", "project", "-i", "1"];
    solve(&bench, &model, &first).expect(5);
    let json = solve(&bench, &model, &[]).expect(0).json();
    assert_eq!(json["message"], "First.");
    assert_eq!(log(&bench), "one\n");
    let said = said_by_user(&trajectory(&bench));
    assert!(said[1].contains("Go on where you stood"), "{said:?}");
}

#[test]
fn what_an_earlier_call_said_is_not_the_answer_of_this_one() {
    let bench = Bench::new();
    let model = writer(&bench);
    solve(&bench, &model, &["-t", "Write one.", "-d", "project"]).expect(0);
    let json = solve(&bench, &model, &["-t", "Write two.", "-i", "1"]).expect(5);
    assert_eq!(json.json()["message"], Value::Null);
}

#[test]
fn killed_in_the_middle_it_goes_on_with_what_was_recorded() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    let mut ground = Ground::new(&bench);
    let sleep = format!("exec -a {} sleep 600", ground.mark);
    let answers = [
        run("echo one >> log.txt"),
        run(&format!("({sleep})")),
        run("echo two >> log.txt"),
        finish("Done."),
    ];
    let model = bench.turns("killed", &answers);
    let args = [
        "solve", "-t", "Write.", "-d", "project", "-l", &model, "-n", "mine",
    ];
    let mut solving = ground.begin(&args);
    solving.hear("sleep 600");
    solving.signal(Signal::KILL);
    solving.end();
    assert!(!bench.path("runs/solve-mine/trajectory.json").exists());

    let json = solve(&bench, &model, &[]).expect(0).json();
    assert_eq!(json["iterations"], 2);
    assert_eq!(log(&bench), "one\ntwo\n");
    let told = told(&asked(&bench)[2]).join("\n");
    assert!(told.contains("sleep 600"), "{told}");
    assert!(told.contains("what this came to is not known"), "{told}");
    assert!(told.contains("The session was interrupted."), "{told}");
    let events = trajectory(&bench);
    assert_numbered(&events);
    assert_eq!(
        named(&events, "action"),
        [
            "system", "message", "run", "run", "message", "run", "finish"
        ]
    );
}

#[test]
fn two_at_once_are_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("project")).unwrap();
    let mut ground = Ground::new(&bench);
    let sleep = format!("(exec -a {} sleep 600)", ground.mark);
    let model = bench.turns("sleeps", &[run(&sleep), finish("Done.")]);
    let args = [
        "solve", "-t", "Sleep.", "-d", "project", "-l", &model, "-n", "mine",
    ];
    let mut solving = ground.begin(&args);
    solving.hear("sleep 600");
    let refused = solve(&bench, &model, &["-t", "Me too."]).expect(2);
    let said = refused.stderr();
    assert!(said.contains("in use by another agon"), "{said}");
    solving.signal(Signal::INT);
    let (status, said) = solving.end();
    assert_eq!(status.code(), Some(130), "{}", said.join("\n"));
    ground.check_clean();
    solve(&bench, &model, &["-t", "Now?"]).expect(0);
    assert_eq!(said_by_user(&trajectory(&bench)).len(), 2);
}

#[test]
fn money_is_counted_over_all_calls() {
    let bench = Bench::new();
    writer(&bench);
    let answers = [
        run("true"),
        finish("First."),
        run("true"),
        finish("Second."),
    ];
    bench.paid_turns("sk-none", &answers);
    let first = ["-t", "Begin.", "-d", "project"];
    let cost = |called: Called| called.json()["metrics"]["accumulated_cost"].clone();
    assert_eq!(cost(solve(&bench, "llm", &first).expect(0)), 2.0);
    let short = solve(&bench, "llm", &["-t", "Go on.", "-b", "2.50"]).expect(5);
    assert_eq!(cost(short), 3.0);
    assert_eq!(cost(solve(&bench, "llm", &["-b", "9"]).expect(0)), 4.0);
}

#[test]
fn another_agents_session_is_taken_up_but_only_by_one_that_remembers() {
    let bench = Bench::new();
    let agent = r#"
import json, sys
todo = [{"action": "run", "command": "echo one >> log.txt"}, {"action": "finish", "result": "mine"}]
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        print(json.dumps(todo.pop(0)), flush=True)
"#;
    bench.write("agent/own.py", agent);
    let model = writer(&bench);
    let own = ["-c", "cmd:python3 agent/own.py", "-d", "project"];
    solve(&bench, &model, &[&own[..], &["-t", "Write one."]].concat()).expect(0);
    let kept = fs::read(bench.path("runs/solve-mine/session.jsonl")).unwrap();
    let refused = solve(&bench, &model, &[&own[..], &["-t", "More."]].concat()).expect(2);
    let said = refused.stderr();
    assert!(
        said.contains("can't take up an earlier conversation"),
        "{said}"
    );
    assert!(said.contains("CodeActAgent"), "{said}");
    assert_eq!(
        fs::read(bench.path("runs/solve-mine/session.jsonl")).unwrap(),
        kept
    );
    let codeact = ["-t", "Write two.", "-c", "CodeActAgent"];
    solve(&bench, &model, &codeact).expect(0);
    assert_eq!(log(&bench), "one\ntwo\n");
    let told = told(&asked(&bench)[0]).join("\n");
    assert!(told.contains("echo one >> log.txt"), "{told}");
}
