//! `agon bench run`: an agent over the instances of a dataset, and the files that are made of it.

#[path = "bench/broken.rs"]
mod broken;
#[path = "bench/example.rs"]
mod example;
#[path = "bench/files.rs"]
mod files;
#[path = "bench/resumed.rs"]
mod resumed;
#[path = "bench/selected.rs"]
mod selected;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::scripted::{finish, run};
use crate::support::{Bench, Called};

const BENCHMARK: &str = "\
name = 'Words'
category = 'words'
max_iterations = 8

[limits]
seconds = 60

[collect]
files = ['out.txt']

[evaluate]
checks = [{ type = 'file', path = 'out.txt', equals = \"{{ expected }}\\n\" }]
";

impl Bench {
    /// A benchmark `words`: each instance wants a word in a file. The word is the second of a pair.
    pub(crate) fn words(&self, instances: &[(&str, &str)]) {
        self.write("words/benchmark.toml", BENCHMARK);
        self.write(
            "words/instruction.md.j2",
            "Write the word {{ word }} to out.txt.\n",
        );
        self.write("words/solution.sh.j2", "echo {{ expected }} > out.txt\n");
        let row = |(id, word): &(&str, &str)| {
            json!({ "instance_id": id, "word": word, "expected": word }).to_string()
        };
        let rows: Vec<String> = instances.iter().map(row).collect();
        self.write("words/dataset.jsonl", &rows.join("\n"));
    }

    /// A model that writes `hello`, and says what it is asked to.
    pub(crate) fn says_hello(&self) -> String {
        self.turns(
            "hello",
            &[run("echo hello > out.txt; cat out.txt"), finish("Done.")],
        )
    }

    /// `agon bench run words --eval-output-dir out --json` and further arguments.
    pub(crate) fn bench_run(&self, args: &[&str]) -> Called {
        let mut all = BENCH_RUN.to_vec();
        all.extend(args);
        self.call(&all)
    }

    /// Where the results of `-l mock/turns:hello` are.
    pub(crate) fn results(&self, leaf: &str) -> PathBuf {
        self.path("out/Words/CodeActAgent").join(leaf)
    }
}

const BENCH_RUN: [&str; 6] = [
    "bench",
    "run",
    "words",
    "--eval-output-dir",
    "out",
    "--json",
];

/// What is told of the instances, by their id.
fn told(rows: &[Value], key: &str) -> Vec<(String, Value)> {
    let mut told: Vec<(String, Value)> = rows
        .iter()
        .map(|row| {
            let id = row["instance_id"].as_str().unwrap().to_owned();
            (id, row.pointer(key).cloned().unwrap_or_default())
        })
        .collect();
    told.sort_by(|one, other| one.0.cmp(&other.0));
    told
}

fn ids(rows: &[Value]) -> Vec<String> {
    told(rows, "").into_iter().map(|(id, _)| id).collect()
}
