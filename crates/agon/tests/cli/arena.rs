//! `agon arena`, as a user calls it: servers and clients in processes of their own, all at once, and what
//! is said when something is wrong.

#[path = "arena/served.rs"]
mod served;
#[path = "arena/vision.rs"]
mod vision;

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use self::served::{Served, free_ports};
use crate::support::{Bench, Called};

fn task(seconds: u64) -> String {
    json!({
        "env_name": "terminal", "window_name": "writer", "task_description": "write",
        "timeout": seconds, "success_criteria": {},
    })
    .to_string()
}

/// `agon` without a display of the machine, with desktops of its own.
fn agon(bench: &Bench, args: &[&str]) -> std::process::Command {
    let mut command = bench.agon(args);
    command.env("XDG_RUNTIME_DIR", bench.path(""));
    command.env_remove("DISPLAY").env_remove("XAUTHORITY");
    command.env_remove("AGON_ARENA_TOKEN");
    command
}

fn call(bench: &Bench, args: &[&str]) -> Called {
    Called(agon(bench, args).output().unwrap())
}

/// A desktop with a terminal, until it is dropped.
struct Desk(Bench);

impl Desk {
    fn start() -> Self {
        let bench = Bench::new();
        let app = ["--app", "xterm -T writer -e cat"];
        call(
            &bench,
            &[&["desktop", "start", "--detach"], &app[..]].concat(),
        )
        .expect(0);
        let desk = Self(bench);
        let shown = ["desktop", "call", "window.wait_for", "writer", "30"];
        call(&desk.0, &shown).expect(0);
        desk
    }

    fn serve(&self, args: &[&str]) -> Served {
        let args = [&["arena"], args, &["--desktop", "d1", "--port", "0"]].concat();
        Served::start(agon(&self.0, &args))
    }

    fn client(&self, agent: &Served, evaluator: &Served) -> Called {
        let urls = ["--agent-url", &agent.url, "--evaluator-url", &evaluator.url];
        let args = [
            &["arena", "client", "task.json", "--json", "--times", "2"],
            &urls[..],
        ]
        .concat();
        call(&self.0, &args)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        call(&self.0, &["desktop", "stop", "--all"]);
    }
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn notes(result: &Value) -> &str {
    result["notes"].as_str().unwrap()
}

#[test]
fn three_processes_play_together_and_do_so_again() {
    let desk = Desk::start();
    desk.0.write("task.json", &task(1));
    let agent = desk.serve(&["agent", "--agent", "one-key:a"]);
    let evaluator = desk.serve(&["evaluator", "--evaluator", "timer", "--report", "r.jsonl"]);
    for time in 1..=2 {
        let results = lines(&desk.client(&agent, &evaluator).expect(0).stdout());
        assert_eq!(results.len(), 2);
        for result in &results {
            assert!(notes(result).starts_with("timeout"), "{result}");
            assert_eq!(result["metrics"]["success"], true, "{result}");
        }
        let report = lines(&fs::read_to_string(desk.0.path("r.jsonl")).unwrap());
        assert_eq!(report.len(), 2 * time);
        let side = lines(&fs::read_to_string(desk.0.path("r.agon.jsonl")).unwrap());
        assert_eq!(side[0]["stop_reason"], "timeout");
        assert!(
            side[0]["stats"]["actions"].as_u64().unwrap() > 0,
            "{}",
            side[0]
        );
    }
    for server in [agent, evaluator] {
        assert_eq!(server.interrupt(), Some(0));
    }
}

#[test]
fn an_agent_in_a_process_of_its_own_is_killed_and_there_again() {
    let desk = Desk::start();
    desk.0.write("long.json", &task(3600));
    desk.0.write("task.json", &task(1));
    let agent = desk.serve(&["agent", "--agent", "random-keys", "--child"]);
    let evaluator = desk.serve(&["evaluator"]);
    let urls = ["--agent-url", &agent.url, "--evaluator-url", &evaluator.url];
    let mut long = agon(
        &desk.0,
        &[&["arena", "client", "long.json", "--json"], &urls[..]].concat(),
    );
    let long = long.stdout(std::process::Stdio::piped()).spawn().unwrap();
    agent.wait_for("/agent/status", "RUNNING");
    assert_eq!(agent.post("/agent/kill").0, 200);
    let done = Called(long.wait_with_output().unwrap()).expect(0).json();
    assert!(notes(&done).starts_with("operator"), "{done}");
    let results = lines(&desk.client(&agent, &evaluator).expect(0).stdout());
    assert!(
        results
            .iter()
            .all(|result| notes(result).starts_with("timeout")),
        "{results:?}"
    );
}

#[test]
fn all_at_once_on_private_desktops() {
    let bench = Bench::new();
    bench.write("tasks.jsonl", &format!("{}\n{}\n", task(1), task(1)));
    let args = [
        "arena",
        "run",
        "tasks.jsonl",
        "--agent",
        "one-key:a",
        "--app",
        "xterm -T writer -e cat",
    ];
    for more in [
        &[][..],
        &["--parallel"],
        &["--latency", "50ms"],
        &["--paused", "100ms"],
    ] {
        let called = call(&bench, &[&args[..], &["--json"], more].concat()).expect(0);
        let results = lines(&called.stdout());
        assert_eq!(results.len(), 2, "{more:?}");
        assert!(
            results.iter().all(|one| notes(one).starts_with("timeout")),
            "{results:?}"
        );
    }
}

#[test]
fn an_interrupted_run_scores_what_is_played() {
    let bench = Bench::new();
    bench.write("task.json", &task(3600));
    let args = [
        "arena",
        "run",
        "task.json",
        "--times",
        "2",
        "--json",
        "--agent-port",
    ];
    let port = free_ports();
    let run = Served::silent(
        agon(&bench, &[&args[..], &[&port.to_string()]].concat()),
        port,
    );
    run.wait_for("/agent/status", "RUNNING");
    let (status, out) = run.interrupt_and_read();
    assert_eq!(status, Some(130), "{out}");
    let results = lines(&out);
    assert_eq!(results.len(), 1, "{out}");
    assert!(notes(&results[0]).starts_with("operator"), "{out}");
}

#[test]
fn what_is_wrong_is_said_before_anything_starts() {
    let bench = Bench::new();
    bench.write("task.json", &task(1));
    bench.write("bad.json", r#"{ "env_name": 3 }"#);
    bench.write(
        "twice.json",
        r#"[{"task_id":"a","env_name":"a","window_name":"a","task_description":"a",
        "timeout":1,"success_criteria":{}},{"task_id":"a","env_name":"a","window_name":"a",
        "task_description":"a","timeout":1,"success_criteria":{}}]"#,
    );
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let desktop = ["--desktop", ":99"];
    for (args, word) in [
        (&["agent", "--agent", "foo"][..], "noop, one-key[:KEY]"),
        (
            &["evaluator", "--evaluator", "foo"],
            "timer, screen, hexagon",
        ),
        (
            &["run", "task.json", "--agent", "foo"],
            "noop, one-key[:KEY]",
        ),
        (
            &[&["agent", "--host", "0.0.0.0"], &desktop[..]].concat(),
            "give a token",
        ),
        (
            &[&["evaluator", "--host", "0.0.0.0"], &desktop[..]].concat(),
            "give a token",
        ),
        (
            &[&["agent", "--host", "0.0.0.0", "--token", ""], &desktop[..]].concat(),
            "visible ASCII",
        ),
        (&["client", "task.json", "--token", " "], "visible ASCII"),
        (&["run", "task.json", "--token", "a b"], "visible ASCII"),
        (
            &[&["agent", "--port", &port], &desktop[..]].concat(),
            "choose another port",
        ),
        (&["client", "nowhere.json"], "nowhere.json"),
        (&["client", "bad.json"], "bad.json, task 1"),
        (&["client", "twice.json"], "used twice"),
        (&["client", "task.json", "--agent-url", "foo"], "http://"),
        (&["run", "task.json", "--latency", "fast"], "200ms"),
        (
            &["run", "task.json", "--paused", "1", "--latency", "1"],
            "cannot be used with",
        ),
    ] {
        let called = call(&bench, &[&["arena"], args].concat()).expect(2);
        assert!(
            called.stderr().contains(word),
            "{args:?}: {}",
            called.stderr()
        );
        assert_eq!(called.stdout(), "");
    }
}

#[test]
fn help_is_as_it_was() {
    let bench = Bench::new();
    for command in ["", "agent", "evaluator", "client", "run", "list"] {
        let words = ["arena", command, "--help"];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let text = call(&bench, &words).expect(0).stdout();
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_path("snapshots");
        let name = ["help-arena", command].join("-");
        settings.bind(|| insta::assert_snapshot!(name.trim_end_matches('-'), text));
    }
    let listed = call(&bench, &["arena", "list", "--json"])
        .expect(0)
        .stdout();
    assert!(
        lines(&listed)
            .iter()
            .any(|one| one["name"] == "hexagon" && one["what"] == "agent")
    );
}

/// Two places and three tasks: each place keeps its ports until its servers are gone, and a task whose
/// programs show no window is told as such.
#[test]
fn tasks_that_can_not_be_played_do_not_end_the_others() {
    let bench = Bench::new();
    let task = |id: &str, seconds: u64, app: &str| {
        json!({
            "task_id": id, "env_name": "terminal", "window_name": "writer",
            "task_description": "write", "timeout": seconds, "success_criteria": {}, "apps": [app],
        })
    };
    let writer = "xterm -T writer -e cat";
    let tasks = [
        task("a", 4, writer),
        task("b", 1, "true"),
        task("c", 1, writer),
    ];
    bench.write("tasks.json", &json!(tasks).to_string());
    let port = free_ports().to_string();
    let args = [
        "arena",
        "run",
        "tasks.json",
        "--parallel",
        "--workers",
        "2",
        "--json",
    ];
    let run = call(&bench, &[&args[..], &["--agent-port", &port]].concat()).expect(1);
    let mut ends: Vec<(String, bool)> = (run.stdout().lines())
        .map(|line| {
            let result: Value = serde_json::from_str(line).unwrap();
            (
                result["task_id"].as_str().unwrap().to_owned(),
                result["error"].is_string(),
            )
        })
        .collect();
    ends.sort();
    let expected = [("a", false), ("b", true), ("c", false)];
    assert_eq!(ends, expected.map(|(id, failed)| (id.to_owned(), failed)));
    assert!(
        run.stdout().contains("without a window"),
        "{}",
        run.stdout()
    );
    assert!(!run.stderr().contains("Terminated"), "{}", run.stderr());
}
