//! The guide's five steps in Rust, as they ship.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::told;
use crate::scripted::{finish, rows, run};
use crate::support::{Bench, Called};

/// Built with the tests, beside the program.
fn example() -> PathBuf {
    let agon = Path::new(env!("CARGO_BIN_EXE_agon"));
    let example = agon.parent().unwrap().join("examples/workflow");
    assert!(
        example.is_file(),
        "build it: cargo build --example workflow"
    );
    example
}

#[test]
fn three_instances_are_solved_once() {
    let bench = Bench::new();
    let all =
        "cat notes/style.txt; echo hello > greeting.txt; echo 42 > sum.txt; echo HEY > shout.txt";
    let model = bench.turns("all", &[run(all), finish("Done.")]);
    let evaluate = || {
        let mut command = Command::new(example());
        command
            .args([&model, "out"])
            .current_dir(bench.path("."))
            .stdin(Stdio::null());
        Called(command.output().unwrap()).expect(0)
    };
    let file = bench.path("out/three-files/CodeActAgent/turns_all_maxiter_10/output.jsonl");
    assert_eq!(
        evaluate().stdout().trim_end(),
        file.strip_prefix(bench.path("."))
            .unwrap()
            .to_str()
            .unwrap()
    );
    let first = rows(&file);
    let resolved = told(&first, "/test_result/resolved");
    let resolved: Vec<_> = resolved
        .iter()
        .map(|(id, is)| (id.as_str(), is.as_bool()))
        .collect();
    assert_eq!(
        resolved,
        [
            ("hello", Some(true)),
            ("shout", Some(true)),
            ("sum", Some(true))
        ]
    );
    // Each action with what it caused.
    let pair = &first[0]["history"][2];
    assert_eq!(pair[0]["action"], "run", "{pair}");
    assert!(
        pair[1]["content"].as_str().unwrap().contains("Be brief."),
        "{pair}"
    );
    evaluate();
    assert_eq!(rows(&file), first, "the second time there is nothing to do");
}
