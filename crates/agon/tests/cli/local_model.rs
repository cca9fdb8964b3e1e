//! A model that runs on this machine: SmolLM2, asked through the program `agon-local`, both of which
//! `cargo xtask test --all` brings.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Bench;

const QUESTION: &str = "What is the capital of France? Answer in one sentence.";

/// As built by `cargo build --package agon-local --profile local`.
fn program() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_agon")).join("../../local/agon-local");
    let program = std::env::var_os("AGON_LOCAL").map_or(built, PathBuf::from);
    assert!(
        program.is_file(),
        "run `cargo build -p agon-local --profile local`"
    );
    program
}

fn ask(bench: &Bench, words: &[&str]) -> Command {
    ask_by(&program(), bench, words)
}

fn ask_by(program: &Path, bench: &Bench, words: &[&str]) -> Command {
    let mut args = vec!["llm", "ask", "--model", "local/smollm2"];
    args.extend(words);
    let mut command = bench.agon(&args);
    command.env("AGON_LOCAL", program);
    command
}

fn answer(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn heavy_long_form_a_local_model_answers_without_any_key_and_the_same_twice() {
    let bench = Bench::new();
    let first = answer(&ask(&bench, &[QUESTION]).output().unwrap());
    assert!(first.contains("Paris"), "{first}");
    let streamed = answer(&ask(&bench, &["--stream", QUESTION]).output().unwrap());
    assert_eq!(first.trim(), streamed.trim());
}

#[test]
fn heavy_long_form_a_local_model_obeys_a_schema_and_costs_nothing() {
    let bench = Bench::new();
    bench.write(
        "schema.json",
        r#"{"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"],
            "additionalProperties": false}"#,
    );
    let words = ["--schema", "schema.json", "--json", "Where is the button?"];
    let said = answer(&ask(&bench, &words).output().unwrap());
    let said: Value = serde_json::from_str(said.trim()).unwrap();
    let text: Value = serde_json::from_str(said["text"].as_str().unwrap()).unwrap();
    assert!(text["x"].is_i64(), "{text}");
    assert_eq!(text.as_object().unwrap().len(), 1);
}

#[test]
fn without_the_program_it_is_said_how_to_build_it() {
    let bench = Bench::new();
    let mut command = ask_by(&bench.path("nothing"), &bench, &["hello"]);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    let flat: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("cargo build --release -p agon-local"),
        "{said}"
    );
}

#[test]
fn a_folder_of_hugging_face_is_told_how_to_convert() {
    let bench = Bench::new();
    bench.write("gpt2/config.json", "{}");
    let called = bench.call(&["llm", "ask", "--model", "local/gpt2", "hello"]);
    assert!(!called.0.status.success());
    let said = String::from_utf8_lossy(&called.0.stderr);
    assert!(said.contains("convert_hf_to_gguf.py"), "{said}");
}
