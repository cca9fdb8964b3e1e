//! `--runner`: somebody else plays the cases in a desktop of his own.

use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{EventBody, FaultClass};

use super::*;
use crate::http_service::{self, Response};

const CASE: &str = "name: Desktop - Click\nlevel: wood\ntask: Click once and say so.\nsetup_cmd: None\ndesktop_image: registry.test/desktop:1\nchecks:\n  - { type: returned_result, contains: clicked once }\n  - { type: command_output, command: date, contains: pretended }\n  - { type: events, must: [{ action: click }] }\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.suite(&[("click", CASE)]);
    bench
}

fn python(bench: &Bench, body: &str) -> String {
    let head = "import json, sys, time\nmessage = json.load(sys.stdin)\n";
    let path = bench.write("runner.py", &format!("{head}{body}"));
    format!("cmd:python3 {}", path.display())
}

#[test]
fn the_example_plays_a_case_without_any_desktop_of_ours() {
    let bench = bench();
    let runner = format!("cmd:python3 {}", example().display());
    let called = bench
        .run(&["--runner", &runner, "--agent-yaml", "agents/mine.yaml"])
        .expect(0);
    assert!(
        called.stderr().contains("unconfined"),
        "{}",
        called.stderr()
    );
    let trial = bench.trial();
    assert_eq!(
        (trial.outcome, trial.end, trial.steps),
        (Outcome::Passed, Some(TurnEnd::Finished), 2)
    );
    assert!(trial.tainted, "somebody else's word decided");
    let reader = bench.reader();
    let events = reader.events(&trial).unwrap();
    let times: Vec<f64> = events.iter().map(|event| event.t).collect();
    assert!(times.is_sorted(), "{times:?}");
    let screens: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Observation(seen) => seen.screen.clone(),
            EventBody::Screen(record) => Some(record.screen.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(screens.len(), 3);
    for screen in screens {
        assert_eq!((screen.width, screen.height), (1, 1));
        reader.picture(&screen.picture).unwrap();
    }
    bench
        .call(&[
            "export",
            "run",
            "--format",
            "osuniverse",
            "--out",
            "results",
        ])
        .expect(0);
    let lines = read_by_python(&bench.path("results"));
    assert!(
        lines[0].starts_with("test click finished 1.0 -1.0 returned_result+command_output+expected_flow 2 2 ['pretended: date'] 'I clicked once.' True"),
        "{}",
        lines[0]
    );
}

#[test]
fn a_runner_gets_the_case_and_what_the_run_was_asked_for() {
    let bench = bench();
    let heard = bench.path("heard.json");
    let body = format!(
        "json.dump(message, open({:?}, 'w'))\nprint(json.dumps({{'trajectory': [], 'command_output_check_results': [{{'command': 'date', 'output': ''}}]}}))",
        heard.display()
    );
    let runner = python(&bench, &body);
    bench
        .run(&[
            "--runner",
            &runner,
            "--agent-yaml",
            "a.yaml",
            "--categories",
            "test",
            "--levels",
            "wood,gold",
            "--max-steps",
            "3,7",
            "--workers",
            "2",
        ])
        .expect(0);
    let heard = file(&heard);
    let case = &heard["testcase"];
    assert_eq!(case["id"], "click");
    assert_eq!(case["category"], "test");
    assert_eq!(case["task"], "Click once and say so.");
    assert_eq!(case["setup_cmd"], "None");
    assert_eq!(case["desktop_image"], "registry.test/desktop:1");
    assert_eq!(case["checks"][1]["command"], "date");
    let config = &heard["config"];
    assert_eq!(config["agent_yaml"], "a.yaml");
    assert_eq!(config["categories"], serde_json::json!(["test"]));
    assert_eq!(config["levels"], serde_json::json!(["wood", "gold"]));
    assert_eq!(
        config["max_steps"],
        serde_json::json!({ "paper": 3, "wood": 7, "bronze": 7, "silver": 7, "gold": 7 })
    );
    assert_eq!(
        (&config["mode"], &config["runners"], &config["dry_run"]),
        (&"run-all".into(), &2.into(), &false.into())
    );
    let keys: Vec<&String> = config.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 11, "{keys:?}");
}

#[test]
fn a_runner_that_crashes_or_talks_nonsense_has_failed_the_case() {
    for (body, end, why) in [
        (
            "sys.exit('no desktop today')",
            TurnEnd::Crashed,
            "no desktop today",
        ),
        ("print('hello')", TurnEnd::Garbage, "logs belong on stderr"),
        ("print('{}')", TurnEnd::Garbage, "`trajectory` is missing"),
        (
            "print(json.dumps({'trajectory': [], 'command_output_check_results': []}))",
            TurnEnd::Garbage,
            "no output of `date`",
        ),
    ] {
        let bench = bench();
        let runner = python(&bench, body);
        bench.run(&["--runner", &runner]).expect(0);
        let trial = bench.trial();
        assert_eq!(
            (trial.outcome, trial.end, trial.attempt),
            (Outcome::Failed, Some(end), 1),
            "{body}"
        );
        assert!(trial.reason.contains(why), "{}", trial.reason);
        assert_eq!(trial.reason.matches(why).count(), 1, "{}", trial.reason);
    }
}

#[test]
fn a_screenshot_that_is_no_whole_png_is_nonsense() {
    // The head of a JPEG; the head of a PNG and nothing behind it.
    let jpeg = "b'\\xff\\xd8\\xff\\xc0\\0\\x11\\x08\\0\\x01\\0\\x01\\x03\\x01\\x22\\0\\x02\\x11\\x01\\x03\\x11\\x01'";
    let png =
        "b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR\\0\\0\\0\\1\\0\\0\\0\\1\\x08\\x06\\0\\0\\0'";
    for bytes in [jpeg, png, "b'hello'"] {
        let bench = Bench::new();
        let case = CASE.replace(
            "  - { type: returned_result",
            "  - { type: pixel, x: 0, y: 0, colour: \"#000000\" }\n  - { type: returned_result",
        );
        bench.suite(&[("click", &case)]);
        let runner = python(
            &bench,
            &format!(
                "import base64\nshot = 'data:image/png;base64,' + base64.b64encode({bytes}).decode()\nprint(json.dumps({{'trajectory': [{{'action': 'x'}}, {{'action': 'y', 'screenshot': shot}}], 'command_output_check_results': [{{'command': 'date', 'output': ''}}]}}))"
            ),
        );
        bench.run(&["--runner", &runner]).expect(0);
        let trial = bench.trial();
        assert_eq!(
            (trial.outcome, trial.end, trial.attempt),
            (Outcome::Failed, Some(TurnEnd::Garbage), 1),
            "{bytes}: {}",
            trial.reason
        );
        let why = "trajectory[1].screenshot is no whole PNG";
        assert!(trial.reason.contains(why), "{}", trial.reason);
    }
}

/// One case, played by a runner that tells the outputs of commands and nothing else.
fn told(checks: &str, outputs: &str) -> (Bench, Called) {
    let bench = Bench::new();
    let case = format!("name: A\ntask: Do.\nenvironment: {{ kind: local }}\nchecks:\n{checks}\n");
    bench.suite(&[("case", &case)]);
    let body = format!(
        "print(json.dumps({{'trajectory': [], 'command_output_check_results': {outputs}}}))"
    );
    let runner = python(&bench, &body);
    let called = bench.run(&["--runner", &runner, "--retries", "0"]);
    (bench, called)
}

#[test]
fn a_status_that_nobody_told_is_not_0() {
    let check = "  - { type: command_output, command: test -f done, exit_status: 0 }";
    for output in ["''", "'[exit status 0]'"] {
        let outputs = format!("[{{'command': 'test -f done', 'output': {output}}}]");
        let (bench, called) = told(check, &outputs);
        called.expect(1);
        let fault = bench.trial().fault.unwrap();
        assert_eq!(fault.class, FaultClass::Check);
        assert!(fault.message.contains("nobody knows"), "{}", fault.message);
    }
    for (code, outcome) in [(0, Outcome::Passed), (1, Outcome::Failed)] {
        let output = format!("{{'status': 'x', 'output': '', 'return_code': {code}}}");
        let outputs = format!("[{{'command': 'test -f done', 'output': {output}}}]");
        let (bench, called) = told(check, &outputs);
        called.expect(0);
        assert_eq!(bench.trial().outcome, outcome);
    }
}

#[test]
fn each_command_of_several_ways_is_asked_for() {
    let checks = "  - type: any\n    checks:\n      - { type: command_output, command: cat a, contains: x }\n      - { type: command_output, command: cat b, contains: x }";
    for (outputs, outcome, why) in [
        (
            "[{'command': row['command'], 'output': 'x' if row['command'] == 'cat b' else ''} for row in message['testcase']['checks']]",
            Outcome::Passed,
            "",
        ),
        (
            "[{'command': 'cat a', 'output': ''}, {'command': 'cat b', 'output': ''}]",
            Outcome::Failed,
            "",
        ),
        (
            "[{'command': 'cat a', 'output': 'x'}]",
            Outcome::Failed,
            "no output of `cat b`",
        ),
    ] {
        let (bench, called) = told(checks, outputs);
        called.expect(0);
        let trial = bench.trial();
        assert_eq!(trial.outcome, outcome, "{}", trial.reason);
        assert!(trial.reason.contains(why), "{}", trial.reason);
    }
}

#[test]
fn a_runner_is_told_where_the_results_will_be() {
    let bench = bench();
    let heard = bench.path("heard.json");
    let body = format!(
        "json.dump(message, open({:?}, 'w'))\nsys.exit('enough')",
        heard.display()
    );
    let runner = python(&bench, &body);
    let called = bench.call(&["run", "suite", "--runner", &runner]).expect(0);
    let config = &file(&heard)["config"];
    let folder = config["results_dir"].as_str().unwrap();
    assert!(bench.path(folder).join("run.json").exists(), "{folder}");
    assert!(called.stderr().contains(folder), "{}", called.stderr());
    let made = || fs::read_dir(bench.path("runs")).unwrap().count();
    let before = made();
    let refused = ["run", "suite", "--runner", "cmd:no-such-program-here"];
    bench.call(&refused).expect(2);
    assert_eq!(made(), before, "no folder is left");
}

#[test]
fn a_service_is_asked_once_for_a_case() {
    let bench = bench();
    let url = http_service::start(|request| {
        let heard: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(heard["testcase"]["id"], "click");
        Response::json(
            "200 OK",
            &serde_json::json!({
                "trajectory": [{ "timestamp": 1.0, "action": "name='click' parameters={'x': 1, 'y': 2}" }, { "timestamp": 2.0, "action": "did something" }],
                "command_output_check_results": [{ "command": "date", "output": { "status": "success", "output": "pretended" } }],
                "result": { "timestamp": 3.0, "action": "clicked once" }, "input_tokens": 70, "output_tokens": 5,
            }),
        )
    });
    bench.run(&["--runner", &url]).expect(0);
    let trial = bench.trial();
    assert_eq!((trial.outcome, trial.steps), (Outcome::Passed, 2));
    assert_eq!(
        (trial.usage.input_tokens, trial.usage.output_tokens),
        (70, 5)
    );
    let events = bench.reader().events(&trial).unwrap();
    let refused = events
        .iter()
        .any(|event| event.body == EventBody::Refused("did something".to_owned()));
    assert!(refused, "words that are no action are kept as words");
}

#[test]
fn a_service_that_is_not_there_is_a_fault_and_so_is_one_that_is_late() {
    let bench = bench();
    // A port that nobody is given by chance.
    let nobody = "http://127.0.0.1:1";
    bench.run(&["--runner", nobody, "--retries", "1"]).expect(1);
    let trial = bench.trial();
    assert_eq!(trial.fault.unwrap().class, FaultClass::AgentUnreachable);
    assert_eq!(trial.attempt, 2, "it is tried again");

    let bench = Bench::new();
    bench.suite(&[("click", &format!("{CASE}limits: {{ seconds: 1 }}\n"))]);
    let url = http_service::start(|_| Response::Silence);
    bench.run(&["--runner", &url, "--retries", "0"]).expect(1);
    assert_eq!(bench.trial().fault.unwrap().class, FaultClass::Timeout);
}

#[test]
fn checks_that_look_at_files_are_told_to_be_none_of_a_runners() {
    let bench = Bench::new();
    bench.suite(&[("click", "name: A\ntask: Do.\nenvironment: { kind: local }\nchecks: [{ type: file, path: a.txt, exists: true }]\n")]);
    let runner = python(&bench, "sys.exit(1)");
    bench
        .run(&["--runner", &runner, "--retries", "0"])
        .expect(1);
    let fault = bench.trial().fault.unwrap();
    assert!(
        fault.message.contains("without --runner"),
        "{}",
        fault.message
    );
}

#[test]
fn checks_of_what_is_beside_the_last_screen_are_none_of_a_runners() {
    for (check, what) in [
        (
            "{ type: window, title: Mousepad, exists: false }",
            "windows",
        ),
        ("{ type: window, title: Mousepad }", "windows"),
        ("{ type: process, app: xterm, alive: false }", "programs"),
        (
            "{ type: region_changed, changed: false }",
            "before the agent",
        ),
        (
            "{ type: any, checks: [{ type: returned_result, equals: x }, { type: window, title: A, exists: false }] }",
            "windows",
        ),
    ] {
        let bench = Bench::new();
        let case = format!(
            "name: A\ntask: Do.\nenvironment: {{ kind: desktop, screen: 320x240, apps: [xterm] }}\nchecks: [{check}]\n"
        );
        bench.suite(&[("click", &case)]);
        let runner = format!("cmd:python3 {}", example().display());
        bench
            .run(&["--runner", &runner, "--retries", "0"])
            .expect(1);
        let fault = bench.trial().fault.unwrap();
        assert_eq!(fault.class, FaultClass::Check, "{check}");
        assert!(fault.message.contains(what), "{}", fault.message);
    }
}

#[test]
fn what_is_no_runner_is_refused_before_anything_is_played() {
    let bench = bench();
    for (runner, why) in [
        ("python3 x.py", "`cmd:PROGRAM ARGS` or `http://URL`"),
        ("cmd:no-such-program-here", "there is no program"),
        ("http://me:secret@127.0.0.1/", "names and passwords"),
    ] {
        let called = bench.run(&["--runner", runner]).expect(2);
        assert!(called.stderr().contains(why), "{}", called.stderr());
    }
    assert!(!bench.path("run").exists());
}
