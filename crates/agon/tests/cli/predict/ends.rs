//! Whose failure it is that there is no answer, or none that can be read.

use agon::core::FaultClass;
use agon::core::verdict::Outcome;
use serde_json::Value;

use super::service::{Answer, Service, configure, into_run, predict};
use crate::support::Bench;

const ONE: [&str; 2] = ["--fixtures", "single_mouse"];

/// A model that says this.
fn script(bench: &Bench, line: &str) -> [&'static str; 2] {
    bench.write("script.jsonl", line);
    ["--model", "mock/script:script.jsonl"]
}

#[test]
fn a_service_that_is_down_is_a_fault_and_never_a_score() {
    let bench = Bench::new();
    configure(&bench, "http://127.0.0.1:1/v1", "tiny");
    let args = ["--model", "served", "--retries", "0"];
    let called = into_run(&bench, &args).expect(1);
    let json = called.json();
    assert_eq!(
        (&json["score"], &json["faulted"]),
        (&Value::Null, &3.into())
    );
    assert_eq!(json["coverage"], 0.0);
    let said = called.stderr();
    assert!(said.contains("only 0 of 3 trials"), "{said}");
    assert!(said.contains("agon predict --resume run"), "{said}");
    for line in bench.trials() {
        assert_eq!(line.outcome, Outcome::Faulted);
        assert_eq!(line.fault.unwrap().class, FaultClass::Model);
    }
}

#[test]
fn a_refusal_is_a_failure() {
    let bench = Bench::new();
    let model = script(&bench, "{\"fault\": \"refusal\"}\n");
    let json = into_run(&bench, &[&ONE[..], &model].concat())
        .expect(0)
        .json();
    assert_eq!((&json["failed"], &json["faulted"]), (&1.into(), &0.into()));
    assert_eq!(json["score"], 0.0);
    assert_eq!(bench.trial().outcome, Outcome::Failed);
}

#[test]
fn an_answer_that_cannot_be_read_is_nothing_and_says_why() {
    let bench = Bench::new();
    let model = script(&bench, "{\"text\": \"I would <b>click</b> it.\"}\n");
    let called = into_run(&bench, &[&ONE[..], &model].concat()).expect(0);
    assert_eq!(called.json()["score"], 0.0);
    let trial = bench.trial();
    assert_eq!((trial.outcome, trial.score), (Outcome::Failed, 0.0));
    assert!(trial.reason.contains("there is none"), "{}", trial.reason);
    let verdict = bench.reader().verdict(&trial).unwrap().unwrap();
    let prediction = verdict.checks[0].prediction.as_ref().unwrap();
    assert!(!prediction.parsed && prediction.predicted.is_empty());
    let said = called.stderr();
    assert!(said.contains("Answers that could not be read"), "{said}");
    let page = bench
        .call(&["report", "run", "--format", "html"])
        .expect(0)
        .stdout();
    assert!(page.contains("not read") && !page.contains("<b>click</b>"));
}

#[test]
fn an_answer_that_ran_out_of_tokens_is_told() {
    let bench = Bench::new();
    let service = Service::start(|_| Answer::Cut("[{'name': 'cli".to_owned()));
    service.configure(&bench, "tiny");
    let called = into_run(&bench, &[&ONE[..], &["--model", "served"]].concat()).expect(0);
    let said = called.stderr();
    assert!(
        said.contains("Cut at max_tokens") && said.contains("1 answer"),
        "{said}"
    );
    let json = bench.call(&["report", "run", "--json"]).expect(0).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    let summary = &json["runs"][0]["summary"];
    assert_eq!(summary["predictions"]["cut_answers"], 1);
    assert_eq!(summary["caveats"][0]["kind"], "cut_answers");
}

#[test]
fn a_tape_gives_the_same_scores_without_the_service_and_says_what_it_lacks() {
    let bench = Bench::new();
    // Right for one of them alone.
    let right = "{'name': 'click', 'mouse_x': 138, 'mouse_y': 89, 'mouse_button_name': 'left', \
                 'mouse_pressed': True}";
    let service = Service::start(|_| Answer::Text(right.to_owned()));
    service.configure(&bench, "tiny");
    let record = ["--model", "served", "--record-tape", "calls.tape"];
    let live = into_run(&bench, &record).expect(0).json();
    assert_eq!(
        (service.bodies().len(), &live["passed"]),
        (3, &Value::from(1))
    );
    let tape = ["--model", "served", "--tape", "calls.tape", "--json"];
    let again = predict(&bench, &[&tape[..], &["--out", "again"]].concat())
        .expect(0)
        .json();
    assert_eq!(service.bodies().len(), 3);
    assert_eq!(
        (&again["score"], &again["passed"]),
        (&live["score"], &live["passed"])
    );
    let other = ["--max-tokens", "7", "--retries", "0", "--out", "other"];
    let missed = predict(&bench, &[&tape[..], &other].concat()).expect(1);
    let said = missed.stderr();
    for part in ["not_on_tape", "max_tokens", "4096", "7"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(service.bodies().len(), 3);
}

#[test]
fn an_outdated_tape_stops_the_run_and_says_so() {
    let bench = Bench::new();
    let service = Service::start(|_| Answer::Text("nothing".to_owned()));
    service.configure(&bench, "tiny");
    let record = ["--model", "served", "--record-tape", "calls.tape"];
    into_run(&bench, &record).expect(0);
    let tape = [
        "--model",
        "served",
        "--tape",
        "calls.tape",
        "--max-tokens",
        "7",
    ];
    let other = ["--workers", "1", "--out", "other"];
    let missed = predict(&bench, &[&tape[..], &other].concat()).expect(1);
    let said = missed.stderr();
    assert!(said.contains("--record-tape"), "{said}");
    // The first miss is enough to know.
    let reader = agon::prelude::RunReader::open(&bench.path("other")).unwrap();
    assert_eq!(reader.trials().unwrap().len(), 1);
}

/// Whoever puts the questions in other words has to record it anew, as `xtask/src/demo.rs` says.
#[test]
fn the_tape_of_the_demo_has_an_answer_to_every_fixture() {
    let tape = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/tapes/smollm2.tape"
    );
    let bench = Bench::new();
    let words = ["--model", "local/smollm2", "--max-tokens", "256", "--json"];
    let run = predict(&bench, &[&words[..], &["--tape", tape]].concat());
    let run = run.expect(0).json();
    assert_eq!((&run["trials"], &run["failed"]), (&3.into(), &3.into()));
}
