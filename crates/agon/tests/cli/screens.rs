//! What people see: help, lists, reports and errors, word for word. Times are masked; everything else
//! must be the same on every machine.

use std::fs;

use crate::support::{Bench, Called};

const GREETING: &str = "\
name: Greeting
level: paper
task: Write hello to greeting.txt.
checks: [{ type: file, path: greeting.txt, equals: \"hello\\n\" }]
solution: [{ action: run, command: echo hello > greeting.txt }]
";

const TALK: &str = "\
name: Talk
level: gold
task: Say done.
environment: { kind: none }
limits: { steps: 7 }
checks: [{ type: returned_result, equals: done }]
solution: [{ action: finish, result: done }]
";

/// Two that pass, one that fails and one that can't be graded, played by their solutions.
fn mixed_run() -> Bench {
    let bench = Bench::new();
    let wrong = TALK.replace("result: done", "result: later");
    let prose = TALK.replace("equals: done", "value: It says that it is done.");
    bench.suite(&[("file", GREETING), ("right", TALK), ("wrong", &wrong)]);
    bench.write("suite/judged/prose.yaml", &prose);
    bench
        .run(&["--agent", "oracle", "--workers", "1"])
        .expect(1);
    bench
}

fn screen(bench: &Bench, args: &[&str], status: i32) -> Called {
    let mut command = bench.agon(args);
    // The drawing of places in files asks the locale which characters there are.
    command.env("LC_ALL", "C.UTF-8");
    Called(command.output().unwrap()).expect(status)
}

/// What was said and what was given out.
fn both(called: &Called) -> String {
    let (said, given) = (called.stderr(), called.stdout());
    format!("{said}-- standard output --\n{given}")
}

/// Compares with the file of that name under `snapshots`.
fn look(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots");
    settings.bind(|| insta::assert_snapshot!(name, masked(text)));
}

/// Times and digests are not the same twice.
fn masked(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, mask) in [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]"),
        (r"\d+\.\d+ s\b", "[n] s"),
        (r"\(\d+ %\)", "([n] %)"),
        (r#"time="[\d.]+""#, "time=\"[n]\""),
        // Three columns of seconds after the number of steps.
        (r"(finished,\d+)(,[\d.e-]+){3}", "$1,[n],[n],[n]"),
        (r"[0-9a-f]{64}", "[digest]"),
    ] {
        let pattern = regex::Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, mask).into_owned();
    }
    text
}

#[test]
fn help() {
    let bench = Bench::new();
    look("help", &screen(&bench, &["--help"], 0).stdout());
    for command in [
        "run", "list", "lint", "report", "doctor", "clean", "schema", "view",
    ] {
        let text = screen(&bench, &[command, "--help"], 0).stdout();
        look(&format!("help-{command}"), &text);
    }
    let text = screen(&bench, &["desktop", "--help"], 0).stdout();
    look("help-desktop", &text);
    for command in ["start", "list", "stop", "screenshot", "call", "watch"] {
        let text = screen(&bench, &["desktop", command, "--help"], 0).stdout();
        look(&format!("help-desktop-{command}"), &text);
    }
}

#[test]
fn list_and_dry_run() {
    let bench = Bench::new();
    bench.suite(&[("file", GREETING), ("talk", TALK)]);
    look("list", &screen(&bench, &["list", "suite"], 0).stdout());
    let json = screen(&bench, &["list", "suite", "--json"], 0).stdout();
    let short = json
        .lines()
        .map(|line| line.rsplit_once("\"digest\"").unwrap().0)
        .collect::<Vec<_>>();
    look("list-json", &short.join("\n"));
    let args = [
        "run",
        "suite",
        "--agent",
        "oracle",
        "--epochs",
        "3",
        "--max-steps",
        "5,25,50",
        "--dry-run",
    ];
    look("dry-run", &both(&screen(&bench, &args, 0)));
}

#[test]
fn lint() {
    let bench = Bench::new();
    let untouched = GREETING.replace("equals: \"hello\\n\"", "exists: false");
    let untouched = untouched.replace("echo hello > greeting.txt", "'true'");
    let hopeless = TALK.replace("result: done", "result: later");
    bench.suite(&[
        ("fine", TALK),
        ("hopeless", &hopeless),
        ("untouched", &untouched),
    ]);
    look("lint", &both(&screen(&bench, &["lint", "suite"], 2)));
    let only_static = screen(&bench, &["lint", "suite", "--static"], 0);
    look("lint-static", &both(&only_static));
    fs::remove_file(bench.path("suite/test/hopeless.yaml")).unwrap();
    fs::remove_file(bench.path("suite/test/untouched.yaml")).unwrap();
    look("lint-clean", &both(&screen(&bench, &["lint", "suite"], 0)));
}

#[test]
fn reports() {
    let bench = mixed_run();
    for format in ["table", "md", "csv", "junit"] {
        let args = ["report", "run", "--format", format];
        let text = screen(&bench, &args, 0).stdout();
        look(&format!("report-{format}"), &text);
    }
}

#[test]
fn a_run_as_it_goes() {
    let bench = Bench::new();
    let wrong = TALK.replace("result: done", "result: later");
    bench.suite(&[("file", GREETING), ("wrong", &wrong)]);
    let args = [
        "run",
        "suite",
        "--out",
        "run",
        "--agent",
        "oracle",
        "--workers",
        "1",
    ];
    let called = screen(&bench, &args, 0);
    look("run", &called.stderr());
    look("run-again", &screen(&bench, &args, 0).stderr());
    let other = [
        "run", "suite", "--out", "run", "--agent", "noop", "--seed", "3",
    ];
    look("run-other", &screen(&bench, &other, 2).stderr());
}

#[test]
fn errors() {
    let bench = Bench::new();
    let unknown = GREETING.replace("checks", "chekcs");
    bench.suite(&[("a", "name: [x\ntask: y\n"), ("b", &unknown)]);
    bench.write("suite/test/b/task.yaml", TALK);
    look(
        "errors-suite",
        &screen(&bench, &["list", "suite"], 2).stderr(),
    );
    bench.write("fine/test/talk.yaml", TALK);
    for (name, args) in [
        ("no-suite", &["run", "nothing"][..]),
        ("filter", &["list", "fine", "--filter", "tag(a) adn tag(b)"]),
        ("category", &["list", "fine", "--category", "nothing"]),
        ("agent", &["run", "fine", "--agent", "orcale"]),
        ("resume", &["run", "--resume", "latest"]),
        ("option", &["run", "fine", "--epoch", "2"]),
    ] {
        let text = screen(&bench, args, 2).stderr();
        look(&format!("errors-{name}"), &text);
    }
}
