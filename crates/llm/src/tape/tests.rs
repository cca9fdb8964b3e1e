//! What a tape promises: what was recorded comes back as it was, in order, and nothing else does.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;

use agon_core::ModelFault;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::request::any_json;
use super::{Recording, Tape};
use crate::account::{Account, Budget};
use crate::key::Key;
use crate::spec::Wire;

const MODEL: &str = "gpt-4o";

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("calls.tape")
    }

    fn record(&self, calls: &[(Value, Value)]) {
        let recording = Recording::create(&self.path()).unwrap();
        for (body, response) in calls {
            recording.keep(Wire::Chat, MODEL, body, response).unwrap();
        }
    }

    fn tape(&self) -> Tape {
        Tape::open(&self.path()).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }
}

fn body(text: &str) -> Value {
    json!({ "messages": [{ "role": "user", "content": text }], "temperature": 0.0 })
}

fn ask(tape: &Tape, body: &Value) -> Value {
    Value::clone(&tape.answer(Wire::Chat, MODEL, body, None).unwrap())
}

#[test]
fn the_same_request_is_answered_in_order_and_then_by_its_last_answer() {
    let bench = Bench::new();
    bench.record(&[
        (body("a"), json!({ "n": 1 })),
        (body("b"), json!({ "n": 9 })),
        (body("a"), json!({ "n": 2 })),
    ]);
    // Going on with a tape keeps what it has.
    bench.record(&[(body("a"), json!({ "n": 3 }))]);
    let tape = bench.tape();
    let answers: Vec<_> = (0..5)
        .map(|_| ask(&tape, &body("a"))["n"].clone())
        .collect();
    assert_eq!(answers, [1, 2, 3, 3, 3]);
    assert_eq!(ask(&tape, &body("b"))["n"], 9);
    assert_eq!(ask(&bench.tape(), &body("a"))["n"], 1);
}

#[test]
fn every_account_hears_the_answers_from_the_first_on() {
    let bench = Bench::new();
    bench.record(&[
        (body("a"), json!({ "n": 1 })),
        (body("a"), json!({ "n": 2 })),
    ]);
    let tape = bench.tape();
    let accounts = [(); 2].map(|()| Account::of_trial(Budget::default(), None));
    let ask = |account| {
        let answer = tape.answer(Wire::Chat, MODEL, &body("a"), Some(account));
        answer.unwrap()["n"].clone()
    };
    // However two trials take turns, both hear the same.
    let order = [0, 0, 1, 0, 1];
    let heard: Vec<_> = order.iter().map(|at| ask(&accounts[*at])).collect();
    assert_eq!(heard, [1, 2, 1, 2, 2]);
}

#[test]
fn a_line_that_was_torn_never_counted() {
    let bench = Bench::new();
    bench.record(&[
        (body("a"), json!({ "n": 1 })),
        (body("b"), json!({ "n": 2 })),
    ]);
    let whole = bench.text();
    for cut in [1, 20, 100] {
        fs::write(bench.path(), &whole[..whole.len() - cut]).unwrap();
        let tape = bench.tape();
        assert_eq!(ask(&tape, &body("a"))["n"], 1);
        assert!(tape.answer(Wire::Chat, MODEL, &body("b"), None).is_err());
        bench.record(&[(body("b"), json!({ "n": 2 }))]);
        assert_eq!(bench.text(), whole);
    }
}

#[test]
fn a_file_that_is_no_tape_is_left_alone() {
    let bench = Bench::new();
    for (text, word) in [
        ("precious", "no tape"),
        ("{\"a\":1}\n", "no tape"),
        ("{\"agon_tape\":2}\n", "format 2"),
        ("{\"agon_tape\":1}\n{\"what\":1}\n", "line 2"),
    ] {
        fs::write(bench.path(), text).unwrap();
        let error = Recording::create(&bench.path()).unwrap_err();
        assert_eq!(error.fault, ModelFault::Setup);
        assert!(error.message().contains(word), "{error}");
        assert!(Tape::open(&bench.path()).is_err());
        assert_eq!(bench.text(), text);
    }
    let error = Tape::open(&bench.folder.path().join("none")).unwrap_err();
    assert!(error.message().contains("none"), "{error}");
}

#[test]
fn one_at_a_time_records_to_a_tape() {
    let bench = Bench::new();
    let first = Recording::create(&bench.path()).unwrap();
    let error = Recording::create(&bench.path()).unwrap_err();
    assert!(error.message().contains("another recording"), "{error}");
    drop(first);
    Recording::create(&bench.path()).unwrap();
}

#[test]
fn a_long_text_is_on_the_tape_once() {
    let bench = Bench::new();
    let screen = format!("data:image/png;base64,{}", "QUJD".repeat(5_000));
    let turn = |count: usize| {
        let texts: Vec<_> = (0..count).map(|at| format!("turn {at}")).collect();
        json!({ "messages": [{ "image": screen }, texts] })
    };
    let calls: Vec<_> = (1..20)
        .map(|count| (turn(count), json!({ "said": count, "back": screen })))
        .collect();
    bench.record(&calls[..10]);
    bench.record(&calls[10..]);
    assert!(bench.text().len() < screen.len() + 20_000);
    let tape = bench.tape();
    for (body, response) in &calls {
        assert_eq!(ask(&tape, body), *response);
    }
}

#[test]
fn a_miss_says_what_is_different() {
    let bench = Bench::new();
    let talk = |texts: &[&str]| json!({ "messages": texts, "temperature": 0.0 });
    bench.record(&[
        (talk(&["hello", "go on", "well"]), json!(1)),
        (talk(&["good day", "go on", "x"]), json!(2)),
        (talk(&["good day", "go on", "it is 10:02"]), json!(3)),
    ]);
    let tape = bench.tape();
    let asked = talk(&["good day", "go on", "it is 10:03"]);
    let error = tape.answer(Wire::Chat, MODEL, &asked, None).unwrap_err();
    assert_eq!(error.fault, ModelFault::NotOnTape);
    let told = r#"in line 4, is different:
  /messages/2: "it is 10:02" -> "it is 10:03""#;
    assert!(error.message().ends_with(told), "{error}");
    let error = tape.answer(Wire::Chat, "gpt-5", &asked, None).unwrap_err();
    let told = "none is of gpt-5 (chat), but of: gpt-4o (chat)";
    assert!(error.message().ends_with(told), "{error}");
    let error = tape
        .answer(Wire::Responses, MODEL, &asked, None)
        .unwrap_err();
    assert!(error.message().contains("gpt-4o (responses)"), "{error}");
}

#[test]
fn keys_of_services_are_not_on_the_tape_and_do_not_matter() {
    let secret = "sk-tape-secret-\"quoted\"-1234";
    let bench = Bench::new();
    Key::new(secret);
    let with = |key: &str| body(&format!("my key is {key}"));
    bench.record(&[(with(secret), json!({ "echo": secret }))]);
    assert!(!bench.text().contains("sk-tape-secret"));
    let tape = bench.tape();
    assert_eq!(ask(&tape, &with(secret))["echo"], "[key]");
    // What was answered then is part of what is asked now.
    assert_eq!(ask(&tape, &with("[key]"))["echo"], "[key]");
}

#[test]
fn a_call_written_by_hand_needs_no_key_but_no_wrong_one_either() {
    let bench = Bench::new();
    let line = json!({ "wire": "chat", "model": MODEL, "body": body("a"), "response": { "n": 1 } });
    fs::write(bench.path(), format!("{{\"agon_tape\":1}}\n{line}\n")).unwrap();
    assert_eq!(ask(&bench.tape(), &body("a"))["n"], 1);
    bench.record(&[(body("b"), json!({ "n": 2 }))]);
    let changed = bench
        .text()
        .replace("\"content\":\"b\"", "\"content\":\"c\"");
    fs::write(bench.path(), changed).unwrap();
    let error = Tape::open(&bench.path()).unwrap_err();
    assert!(error.message().contains("line 3: its key"), "{error}");
}

#[test]
fn the_digest_is_that_of_what_counts() {
    let bench = Bench::new();
    bench.record(&[(body("a"), json!({ "n": 1 }))]);
    let digest = bench.tape().digest();
    let mut file = File::options().append(true).open(bench.path()).unwrap();
    file.write_all(b"{\"torn").unwrap();
    assert_eq!(bench.tape().digest(), digest);
    bench.record(&[(body("b"), json!({ "n": 1 }))]);
    assert_ne!(bench.tape().digest(), digest);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_was_recorded_comes_back(
        calls in prop::collection::vec((any_json(), any_json()), 1..8),
        long in 4000usize..5000,
    ) {
        let bench = Bench::new();
        let long = "é".repeat(long / 2);
        let calls: Vec<_> = calls
            .into_iter()
            .enumerate()
            .map(|(at, (body, response))| {
                (json!({ "at": at, "b": body, "l": long }), json!({ "r": response, "l": [long] }))
            })
            .collect();
        bench.record(&calls);
        let tape = bench.tape();
        for (body, response) in &calls {
            prop_assert_eq!(&ask(&tape, body), response);
        }
    }
}
