//! Two and three runs, paired by task.

use agon_core::{Digest, FaultClass, Money, Usage};
use agon_report::{
    Comparison, Contender, Format, Method, PlayedTrial, RunReport, Screen, document_schema, render,
};
use agon_store::{Manifest, TrialLine};
use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::{faulted, graded, manifest, model, task};

const TASKS: [&str; 8] = [
    "files/both-1",
    "files/both-2",
    "files/gained-1",
    "files/gained-2",
    "files/gained-3",
    "files/lost",
    "files/neither",
    "files/faulted",
];

fn run(name: &str, passed: &[&str], faults: &[&str]) -> (Manifest, Vec<TrialLine>) {
    let mut manifest = manifest(1, TASKS.map(|id| task(id, None)).to_vec());
    manifest.run = name.to_owned();
    let line = |id: &str| {
        if faults.iter().any(|part| id.contains(part)) {
            return faulted(id, 1, FaultClass::Start, "no sandbox");
        }
        let passes = passed.iter().any(|part| id.contains(part));
        graded(id, 1, f64::from(u8::from(passes)))
    };
    (manifest, TASKS.map(line).to_vec())
}

fn first() -> (Manifest, Vec<TrialLine>) {
    run("20260101-000000-demo-first", &["both", "lost"], &[])
}

fn second() -> (Manifest, Vec<TrialLine>) {
    let (mut manifest, mut lines) = run(
        "20260102-000000-demo-second",
        &["both", "gained"],
        &["faulted"],
    );
    manifest.agent.spec = "computer".to_owned();
    manifest.models = vec![model("big")];
    manifest.seed = 9;
    for line in &mut lines {
        line.usage = Usage {
            input_tokens: 10,
            money: Some(Money::from_micros(2_500)),
            calls: 1,
            ..Usage::default()
        };
    }
    (manifest, lines)
}

fn compared(runs: &[(Manifest, Vec<TrialLine>)]) -> Value {
    let text = rendered(Format::Json, runs);
    serde_json::from_str::<Value>(&text).unwrap()["comparison"].take()
}

fn rendered(format: Format, runs: &[(Manifest, Vec<TrialLine>)]) -> String {
    let reports: Vec<RunReport<'_>> = runs
        .iter()
        .map(|(manifest, lines)| RunReport::new(manifest, lines).unwrap())
        .collect();
    render(format, &reports).unwrap()
}

#[test]
fn tasks_are_paired_and_counted() {
    let found = compared(&[first(), second()]);
    let pair = &found["pairs"][0];
    let count = |name: &str| pair[name].as_u64().unwrap();
    assert_eq!(
        ["tasks", "gained", "lost", "both", "neither"].map(count),
        [7, 3, 1, 2, 1]
    );
    assert_eq!(pair["p_value"], 0.625);
    let difference = pair["difference"].as_f64().unwrap();
    assert!((difference - 2.0 / 7.0).abs() < 1e-9, "{difference}");
    assert_eq!(pair["difference_ci"]["method"], "effective_tasks");
    // Those that differ come first, those that can't be compared last.
    let order: Vec<&str> = found["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["task"].as_str().unwrap())
        .collect();
    assert!(
        order[..4].contains(&"files/lost") && order[7] == "files/faulted",
        "{order:?}"
    );
    assert_eq!(found["common"], 7);
}

#[test]
fn from_the_other_side_it_is_the_opposite() {
    let (there, back) = (
        compared(&[first(), second()]),
        compared(&[second(), first()]),
    );
    let (there, back) = (&there["pairs"][0], &back["pairs"][0]);
    assert_eq!(there["gained"], back["lost"]);
    assert_eq!(there["lost"], back["gained"]);
    assert_eq!(there["p_value"], back["p_value"]);
    let by = |pair: &Value| pair["difference"].as_f64().unwrap();
    assert!((by(there) + by(back)).abs() < 1e-12);
}

#[test]
fn table_of_paired_runs() {
    assert_snapshot!(rendered(
        Format::Table(Screen::default()),
        &[first(), second()]
    ));
}

#[test]
fn markdown_of_paired_runs() {
    let text = rendered(Format::Markdown, &[first(), second()]);
    assert_snapshot!(text.split("\n# ").next().unwrap());
}

#[test]
fn html_of_paired_runs() {
    let page = rendered(Format::Html, &[first(), second()]);
    let (_, page) = page.split_once("<main>").unwrap();
    assert_snapshot!(page.split("<article").next().unwrap());
}

#[test]
fn json_of_three_runs() {
    let third = run("20260103-000000-demo-third", &["both", "lost"], &[]);
    let mut found = compared(&[first(), second(), third]);
    found["tasks"].as_array_mut().unwrap().truncate(1);
    assert_snapshot!(serde_json::to_string_pretty(&found).unwrap());
    let schema = serde_json::to_value(document_schema()).unwrap();
    for (part, name) in [
        ("ComparedRun", "runs"),
        ("PairedRun", "pairs"),
        ("ComparedTask", "tasks"),
    ] {
        let known = &schema["$defs"][part]["properties"];
        for field in found[name][0].as_object().unwrap().keys() {
            assert!(known.get(field).is_some(), "{part} {field}");
        }
    }
}

#[test]
fn one_run_is_not_compared() {
    assert_eq!(compared(&[first()]), Value::Null);
}

/// What could be believed too easily is said.
#[test]
fn where_runs_were_not_given_the_same_it_is_said() {
    let (mut manifest, lines) = second();
    manifest.tasks[0].played = Digest::of(b"another");
    manifest.tasks.truncate(7);
    manifest.epochs = 2;
    manifest.host.cpus = 64;
    let found = compared(&[first(), (manifest, lines)]);
    let said: Vec<&str> = found["caveats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    assert_snapshot!(said.join("\n"));
}

/// With several epochs a task is solved if more than half of its trials passed, and counts once.
#[test]
fn tasks_count_once_whatever_was_seen_of_them() {
    let often = manifest(4, vec![task("a/x", None), task("a/y", None)]);
    let once = manifest(1, vec![task("a/x", None), task("a/y", None)]);
    let lines = vec![
        graded("a/x", 1, 1.0),
        graded("a/x", 2, 0.0),
        graded("a/x", 3, 1.0),
        graded("a/y", 1, 1.0),
        graded("a/y", 2, 0.0),
        faulted("a/y", 3, FaultClass::Start, "none"),
    ];
    let other = vec![graded("a/x", 1, 0.0), graded("a/y", 1, 1.0)];
    let found = compared(&[(once, other), (often, lines)]);
    let pair = &found["pairs"][0];
    // x: 2 of 3 passed, gained; y: 1 of 2, which is not more than half: lost.
    assert_eq!(
        (pair["gained"].as_u64(), pair["lost"].as_u64()),
        (Some(1), Some(1))
    );
    let difference = pair["difference"].as_f64().unwrap();
    assert!(
        (difference - (2.0 / 3.0 - 0.5) / 2.0).abs() < 1e-6,
        "{difference}"
    );
    let cell = &found["tasks"][0]["cells"][1];
    assert_eq!(
        (cell["passed"].as_u64(), cell["missing"].as_u64()),
        (Some(2), Some(1))
    );
}

/// All tasks differ alike, and the interval has a width all the same.
#[test]
fn nothing_is_certain_because_all_tasks_agree() {
    let (left, lines) = first();
    let of = |score: f64| -> Comparison {
        let mut sides = [Contender::new("l", &left), Contender::new("r", &left)];
        for (side, contender) in sides.iter_mut().enumerate() {
            for line in &lines {
                contender.add(&PlayedTrial {
                    task: &line.task.to_string(),
                    epoch: 1,
                    attempt: 1,
                    outcome: line.outcome,
                    score: if side == 0 { 0.0 } else { score },
                    seconds: 1.0,
                    steps: 1,
                    money: None,
                    unpriced: false,
                });
            }
        }
        Comparison::of(&sides)
    };
    let same = of(0.0).pairs[0].difference_ci.unwrap();
    assert_eq!(same.method, Method::EffectiveTasks);
    assert!(
        (same.low + same.high).abs() < 1e-6 && (0.3..0.5).contains(&same.high),
        "{same:?}"
    );
    let better = of(1.0).pairs[0].difference_ci.unwrap();
    assert!(
        (0.1..0.4).contains(&better.low) && better.high == 1.0,
        "{better:?}"
    );
}

#[test]
fn runs_without_a_task_in_common_say_so() {
    let other = (
        manifest(1, vec![task("web/search", None)]),
        vec![graded("web/search", 1, 1.0)],
    );
    let text = rendered(Format::Table(Screen::default()), &[first(), other]);
    assert!(
        text.contains("B and A have no graded task in common."),
        "{text}"
    );
    assert!(!text.contains("Paired by task"));
}

/// What differs is told in words of others.
#[test]
fn foreign_words_stay_text() {
    let (mut manifest, lines) = second();
    manifest.host.os = "<script>alert(1)</script>\x1b[31m\u{202e}".to_owned();
    let runs = [first(), (manifest, lines)];
    for format in [
        Format::Table(Screen::default()),
        Format::Markdown,
        Format::Html,
    ] {
        let text = rendered(format, &runs);
        assert!(text.contains("Played on other machines"), "{format:?}");
        assert!(!text.contains(['\x1b', '\u{202e}']), "{format:?}");
        if format != Format::Table(Screen::default()) {
            assert!(!text.contains("<script"), "{format:?}");
        }
    }
}
