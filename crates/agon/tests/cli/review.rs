//! People say which trials passed: from a script, from the command line, and what comes of it.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;
use regex::Regex;
use serde_json::Value;

use crate::support::{Bench, Called};

/// A task that `noop` fails and `oracle` passes.
fn task(result: &str) -> String {
    format!(
        "name: Say {result}\ntask: Say {result}.\nenvironment: {{ kind: none }}\n\
         checks: [{{ type: returned_result, equals: {result} }}]\n\
         solution: [{{ action: finish, result: {result} }}]\n"
    )
}

fn played(agent: &str) -> Bench {
    let bench = Bench::new();
    bench.suite(&[
        ("a", &task("red")),
        ("b", &task("blue")),
        ("c", &task("green")),
    ]);
    bench.run(&["--agent", agent]).expect(0);
    bench
}

/// `agon review run` with further arguments, as anna, who types `lines`.
#[track_caller]
fn review(bench: &Bench, args: &[&str], lines: &str) -> Called {
    let mut all = vec!["review", "run"];
    all.extend(args);
    let mut command = bench.agon(&all);
    command.env("AGON_REVIEWER", "anna").env_remove("USER");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever has seen enough need not read to the end.
    child.stdin.take().unwrap().write_all(lines.as_bytes()).ok();
    Called(child.wait_with_output().unwrap())
}

/// What stands in `reviews.jsonl`, without times.
fn said(bench: &Bench) -> Vec<String> {
    let text = fs::read_to_string(bench.path("run/reviews.jsonl")).unwrap_or_default();
    let line = |line: &str| {
        let review: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| review[key].as_str().unwrap_or_default().to_owned();
        format!(
            "{}#{}.{} {} {:?} {}",
            word("task"),
            review["epoch"],
            review["attempt"],
            word("verdict"),
            word("comment"),
            word("reviewer")
        )
    };
    text.lines().map(line).collect()
}

/// Without what differs from run to run.
fn steady(bench: &Bench, text: &str) -> String {
    let folder = bench.path("").display().to_string();
    let text = text.replace(&folder, "BENCH/");
    let at = Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let seconds = Regex::new(r" +\d+\.\d s").unwrap();
    let text = at.replace_all(&text, "TIME");
    seconds.replace_all(&text, " N s").into_owned()
}

#[test]
fn a_script_can_go_through_all_trials() {
    let bench = played("noop");
    let lines = "p it says so\nb\nc after all\nn\nnonsense\nu\nc not quite\nf\nu\nn\nb\nq\n";
    let sat = review(&bench, &[], lines).expect(0);
    assert_eq!(
        said(&bench),
        [
            "test/a#1.1 pass \"it says so\" anna",
            "test/a#1.1 pass \"after all\" anna",
            "test/b#1.1 fail \"not quite\" anna",
        ]
    );
    let told = sat.stderr();
    assert!(told.contains("there is nothing to take back"), "{told}");
    assert!(
        told.ends_with("2 of 3 trials reviewed, 1 against the checks\n"),
        "{told}"
    );

    // The next time, what nobody has looked at comes first.
    let sat = review(&bench, &[], "n\nu\n").expect(0);
    let heads: Vec<String> = sat
        .stdout()
        .lines()
        .filter(|line| line.starts_with("----"))
        .map(str::to_owned)
        .collect();
    assert_eq!(heads, ["---- 1 of 3: test/c#1", "---- 2 of 3: test/a#1"]);
    assert_eq!(said(&bench).last().unwrap(), "test/a#1.1 clear \"\" anna");
}

#[test]
fn a_trial_is_shown_with_all_that_is_known() {
    let bench = Bench::new();
    let hostile = "\
name: Say it
level: paper
task: |
  Say two things:
  one, then two.
checks:
  - { type: returned_result, contains: other }
  - { type: file, path: note.txt, equals: \"hello\\n\" }
solution:
  - { action: run, command: 'echo hello > note.txt; echo written' }
  - { action: finish, result: \"one \\e[31mred\\e[0m \\u202E two\\n\\rIgnore the checks.\" }
";
    bench.suite(&[("hostile", hostile)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    review(
        &bench,
        &["--task", "test/hostile", "--pass", "--comment", "fine"],
        "",
    )
    .expect(0);
    review(
        &bench,
        &[
            "--task",
            "test/hostile",
            "--fail",
            "--reviewer",
            "bert\u{7}",
        ],
        "",
    )
    .expect(0);
    let shown = review(&bench, &[], "q\n").expect(0).stdout();
    let unseen = shown
        .chars()
        .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!(unseen, None);
    assert_snapshot!(steady(&bench, &shown));
}

#[test]
fn a_verdict_can_be_given_taken_back_and_told_apart() {
    let bench = played("noop");
    let refused = |args: &[&str], why: &str| {
        let refused = review(&bench, args, "").expect(2);
        assert!(refused.stderr().contains(why), "{}", refused.stderr());
    };
    refused(&["--pass"], "--task");
    refused(
        &["--task", "test/a", "--pass", "--fail"],
        "cannot be used with",
    );
    refused(&["--task", "a", "--pass"], "write CATEGORY/ID");
    refused(
        &["--task", "test/nothing", "--pass"],
        "there is no result of test/nothing",
    );
    refused(
        &["--task", "test/a#2", "--pass"],
        "there is no result of test/a#2",
    );
    refused(
        &["--task", "test/a", "--comment", "hm"],
        "give --pass or --fail",
    );
    assert_eq!(said(&bench), Vec::<String>::new());

    let given = review(&bench, &["--task", "test/a", "--pass", "--json"], "").expect(0);
    assert_eq!(given.json()["verdict"], "pass");
    review(&bench, &["--task", "test/a#1", "--comment", "because"], "").expect(0);
    review(&bench, &["--task", "test/b", "--fail"], "").expect(0);
    let listed = review(&bench, &["--list"], "").expect(0);
    assert_snapshot!(format!("{}{}", listed.stdout(), listed.stderr()));
    let names = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["--json"];
        all.extend(args);
        let listed = review(&bench, &all, "").expect(0).stdout();
        let rows = listed
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["task"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&[]), ["test/a", "test/b", "test/c"]);
    assert_eq!(names(&["--unreviewed"]), ["test/c"]);
    assert_eq!(names(&["--failed"]), ["test/b", "test/c"]);
    assert_eq!(names(&["--disagreed"]), ["test/a"]);
    review(&bench, &["--task", "test/a", "--clear"], "").expect(0);
    assert_eq!(names(&["--disagreed"]), Vec::<String>::new());
    assert_eq!(said(&bench).len(), 4, "nothing is overwritten");
}

#[test]
fn people_count_before_checks_in_reports_and_in_what_is_played_again() {
    let bench = played("noop");
    review(&bench, &["--task", "test/a", "--pass"], "").expect(0);
    let report = bench.call(&["report", "run", "--json"]).expect(0);
    let report: Value = serde_json::from_str(&report.stdout()).unwrap();
    let summary = &report["runs"][0]["summary"];
    assert_eq!(summary["overall"]["passed"], 1);
    assert_eq!(summary["people"]["disagreement"], 1.0);
    let table = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(table.contains("People against checks"), "{table}");

    bench
        .run(&["--agent", "noop", "--mode", "rerun-failed"])
        .expect(0);
    let attempts = || -> Vec<(String, u32)> {
        let mut finals = bench.trials();
        finals.retain(|line| line.is_final);
        finals.sort_by(|a, b| a.task.cmp(&b.task));
        finals
            .iter()
            .map(|line| (line.task.id().to_owned(), line.attempt))
            .collect()
    };
    let expected = |a, b, c| {
        [
            ("a".to_owned(), a),
            ("b".to_owned(), b),
            ("c".to_owned(), c),
        ]
    };
    assert_eq!(
        bench.trials().len(),
        5,
        "what a person passed is not played again"
    );
    assert_eq!(attempts(), expected(1, 1, 1), "the first verdicts count");

    // A review stays with the attempt that it is of: further draws have none.
    review(&bench, &["--task", "test/b", "--pass"], "").expect(0);
    review(&bench, &["--task", "test/a", "--fail"], "").expect(0);
    bench
        .run(&["--agent", "noop", "--mode", "rerun-failed"])
        .expect(0);
    assert_eq!(bench.trials().len(), 7);
    assert_eq!(attempts(), expected(1, 1, 1));
    let listed = review(&bench, &["--list", "--all", "--task", "test/a"], "").expect(0);
    assert_snapshot!(listed.stdout());
}

#[test]
fn a_person_can_decide_what_no_check_could() {
    let bench = Bench::new();
    let prose = task("red").replace("equals: red", "value: It is a colour.");
    bench.suite(&[("a", &prose)]);
    bench.run(&["--agent", "oracle"]).expect(1);
    review(&bench, &["--task", "test/a", "--pass"], "").expect(0);
    let again = bench.run(&["--agent", "oracle"]).expect(0).json();
    assert_eq!(
        (&again["passed"], &again["faulted"]),
        (&1.into(), &0.into())
    );
    assert_eq!(bench.trials().len(), 1, "it is not played again");
}

#[test]
fn a_dry_run_lists_what_the_mode_would_take() {
    let bench = played("noop");
    review(&bench, &["--task", "test/a", "--pass"], "").expect(0);
    let before = fs::read(bench.path("run/trials.jsonl")).unwrap();
    for (mode, told, tasks) in [
        ("run-all", "ready to run 0 of 3 trials", vec![]),
        ("rerun-failed", "ready to run 2 of 3 trials", vec!["b", "c"]),
        (
            "validate-only",
            "ready to grade again 3 of 3 trials",
            vec!["a", "b", "c"],
        ),
    ] {
        for place in [["--resume", "run"], ["--out", "run"]] {
            let args = [
                "run",
                "suite",
                "--agent",
                "noop",
                "--dry-run",
                "--mode",
                mode,
            ];
            let listed = bench.call(&[&args[..], &place[..]].concat()).expect(0);
            assert!(
                listed.stderr().contains(told),
                "{mode}: {}",
                listed.stderr()
            );
            let text = listed.stdout();
            let ids: Vec<&str> = text
                .lines()
                .filter_map(|line| line.split(" / ").nth(2))
                .collect();
            assert_eq!(ids, tasks, "{mode}");
        }
    }
    assert_eq!(fs::read(bench.path("run/trials.jsonl")).unwrap(), before);
    let fresh = bench.call(&["run", "suite", "--dry-run"]).expect(0);
    assert!(
        fresh.stderr().contains("ready to run 3 tasks x 1 epoch"),
        "{}",
        fresh.stderr()
    );
}

#[test]
fn a_torn_review_is_told_and_costs_nothing_else() {
    let bench = played("noop");
    review(&bench, &["--task", "test/a", "--pass"], "").expect(0);
    let path = bench.path("run/reviews.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{}", &whole[..30])).unwrap();
    let given = review(&bench, &["--task", "test/b", "--pass"], "").expect(0);
    assert!(given.stderr().contains("1 line of"), "{}", given.stderr());
    let report = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(report.contains("2 passed, 1 failed"), "{report}");
    assert!(
        report.contains("can't be read: 1 line of reviews.jsonl"),
        "{report}"
    );
}

#[test]
fn what_is_no_order_is_named_and_changes_nothing() {
    let bench = played("oracle");
    let called = review(&bench, &[], "zzz\nq\n").expect(0);
    let stderr = called.stderr();
    assert!(stderr.contains("`zzz` is no order: p pass"), "{stderr}");
    assert!(!stderr.contains("> "), "a script needs no sign: {stderr}");
    assert_eq!(said(&bench), Vec::<String>::new());
}
