//! The fixtures and their variants, answered right, wrong and by copying.

use serde_json::Value;

use super::service::{into_run, predict};
use crate::support::Bench;

fn score(json: &Value) -> f64 {
    json["score"].as_f64().unwrap()
}

#[test]
fn what_is_expected_is_worth_all_and_what_is_wrong_almost_nothing() {
    let bench = Bench::new();
    let json = into_run(&bench, &["--model", "mock/expected"])
        .expect(0)
        .json();
    assert_eq!((score(&json), &json["passed"]), (1.0, &Value::from(3)));
    let names: Vec<String> = bench
        .trials()
        .iter()
        .map(|line| line.task.to_string())
        .collect();
    for group in ["single_mouse", "multi_click", "multi_action_sequence"] {
        assert!(names.contains(&format!("{group}/{group}")), "{names:?}");
    }
    let wrong = ["--model", "mock/wrong", "--out", "wrong", "--json"];
    let json = predict(&bench, &wrong).expect(0).json();
    assert!((0.05..0.2).contains(&score(&json)), "{json}");
    assert_eq!((&json["passed"], &json["faulted"]), (&0.into(), &0.into()));
    // Copying gets the keys right and the points wrong: nothing passes.
    let copied = ["--model", "mock/echo", "--out", "copied", "--json"];
    let json = predict(&bench, &copied).expect(0).json();
    assert!((0.5..1.0).contains(&score(&json)), "{json}");
    assert_eq!(json["passed"], 0);
    let one = [
        "-m",
        "mock/expected",
        "--fixtures",
        "multi_click",
        "--out",
        "one",
        "--json",
    ];
    assert_eq!(predict(&bench, &one).expect(0).json()["tasks"], 1);
    let under = ["-m", "mock/wrong", "--fail-under", "0.5", "--out", "under"];
    predict(&bench, &under).expect(3);
}

#[test]
fn variants_are_those_of_the_seed() {
    let bench = Bench::new();
    let played = |out: &str, seed: &str| {
        let args = [
            "-m",
            "mock/expected",
            "--variants",
            "4",
            "--seed",
            seed,
            "--out",
            out,
            "--json",
        ];
        let json = predict(&bench, &args).expect(0).json();
        assert_eq!((score(&json), &json["tasks"]), (1.0, &Value::from(12)));
        let reader = agon::store::RunReader::open(&bench.path(out)).unwrap();
        let tasks = reader.manifest().tasks.iter();
        tasks.map(|task| task.played).collect::<Vec<_>>()
    };
    let one = played("one", "5");
    assert_eq!(one, played("again", "5"));
    let other = played("other", "6");
    assert!(one.iter().all(|digest| !other.contains(digest)));
}

#[test]
fn every_report_tells_of_predictions() {
    let bench = Bench::new();
    let args = [
        "-m",
        "mock/echo",
        "--variants",
        "3",
        "--max-screen-size",
        "1024x768",
    ];
    let table = predict(&bench, &[&args[..], &["--out", "run"]].concat()).expect(0);
    for part in [
        "Predictions",
        "By expected action",
        "Distance from the expected point",
        "exact",
    ] {
        assert!(table.stdout().contains(part), "{part}: {}", table.stdout());
    }
    assert!(!table.stdout().contains("Measured"), "{}", table.stdout());
    let json = bench.call(&["report", "run", "--json"]).expect(0).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    let predictions = &json["runs"][0]["summary"]["predictions"];
    assert_eq!(predictions["groups"].as_array().unwrap().len(), 3);
    assert_eq!(predictions["overall"]["parsed"]["share"], 1.0);
    let page = bench
        .call(&["report", "run", "--format", "html"])
        .expect(0)
        .stdout();
    assert_eq!(page.matches("<details").count(), 9);
    let rows = bench
        .call(&["report", "run", "--format", "csv"])
        .expect(0)
        .stdout();
    assert!(
        rows.lines()
            .skip(1)
            .all(|row| row.contains(",action,true,")),
        "{rows}"
    );
    for line in bench.reader().trials().unwrap() {
        let verdict = bench.reader().verdict(&line).unwrap().unwrap();
        let prediction = verdict.checks[0].prediction.as_ref().unwrap();
        let window = &prediction.window;
        assert!(
            window.left >= 0 && window.left + window.width <= 1024,
            "{window:?}"
        );
    }
}

#[test]
fn a_long_prompt_is_cut_and_that_is_told() {
    let bench = Bench::new();
    let args = [
        "-m",
        "mock/echo",
        "--fixtures",
        "single_mouse",
        "--max-input-size",
        "60",
    ];
    let said = into_run(&bench, &args).expect(0).stderr();
    assert!(said.contains("from the beginning: 1 prompt"), "{said}");
    let events = bench.reader().events(&bench.trial()).unwrap();
    let told = events.iter().any(|event| {
        let text = serde_json::to_string(event).unwrap();
        text.contains("\"note\"") && text.contains("to its last 60 characters")
    });
    assert!(told, "{events:?}");
}

#[test]
fn options_without_effect_are_refused() {
    let bench = Bench::new();
    bench.write("mine.jsonl", "{}\n");
    let refused: [(&[&str], &str); 4] = [
        (
            &["--data", "mine.jsonl", "--unit", "percent"],
            "--metric hit",
        ),
        (&["--data", "mine.jsonl", "--boxes", "xyxy"], "--metric hit"),
        (&["--max-screen-size", "800x600"], "--variants N"),
        (&["--max-input-size", "0"], "--max-input-size"),
    ];
    for (args, part) in refused {
        let args = [&["-m", "mock/echo"], args].concat();
        let said = predict(&bench, &args).expect(2).stderr();
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_fixture_that_is_named_twice_is_asked_once() {
    let bench = Bench::new();
    let args = [
        "-m",
        "mock/expected",
        "--fixtures",
        "single_mouse,single_mouse",
    ];
    assert_eq!(into_run(&bench, &args).expect(0).json()["passed"], 1);
}

#[test]
fn a_model_is_needed() {
    let bench = Bench::new();
    let said = predict(&bench, &[]).expect(2).stderr();
    assert!(said.contains("--model local/smollm2"), "{said}");
    let said = predict(&bench, &["-m", "nobody"]).expect(2).stderr();
    assert!(said.contains("nobody"), "{said}");
    assert!(
        !bench.path("runs").exists() || bench.path("runs").read_dir().unwrap().next().is_none()
    );
}
