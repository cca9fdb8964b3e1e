//! The examples of the reference load.

use super::fixture::Folder;

const FORMAT: &str = include_str!("../../../../docs/task-format.md");
const CHECKS: &str = include_str!("../../../../docs/checks.md");
const BENCHMARKS: &str = include_str!("../../../../docs/benchmarks.md");

fn blocks(reference: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let parts = reference.split(&opening).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_example_of_a_task_loads() {
    let (lists, tasks): (Vec<_>, Vec<_>) = blocks(FORMAT, "yaml")
        .into_iter()
        .partition(|block| block.starts_with("- "));
    assert!(tasks.len() >= 7 && lists.len() >= 6);
    let checks = lists.iter().map(|list| format!("task: x\nchecks:\n{list}"));
    for task in tasks.iter().cloned().chain(checks) {
        loads(&task);
    }
}

#[test]
fn every_example_of_a_check_loads() {
    let blocks = blocks(CHECKS, "yaml");
    assert!(blocks.len() >= 6);
    for block in blocks {
        loads(&match &block {
            list if list.starts_with("- ") => format!("task: x\nchecks:\n{list}"),
            checks if checks.starts_with("checks:") => format!("task: x\n{checks}"),
            task => task.clone(),
        });
    }
}

fn loads(task: &str) {
    Folder::new()
        .with("demo/one/task.yaml", task)
        .with("demo/one/verify/check.py", "x")
        .with("demo/one/verify/lamp.png", "x")
        .with("demo/one/verify/test.sh", "x")
        .suite();
}

#[test]
fn the_example_of_a_suite_loads() {
    for toml in blocks(FORMAT, "toml") {
        let suite = Folder::of_task("task: x\n")
            .with("suite.toml", &toml)
            .suite();
        assert_eq!(suite.name, "Office");
        assert_eq!(
            suite.tasks[0].environment.image.as_deref(),
            Some("office:3")
        );
    }
}

/// The content of a file of the worked example: its name stands above it.
fn file(name: &str) -> String {
    let heading = format!("`{name}`:\n\n```");
    let (_, rest) = BENCHMARKS.split_once(&heading).unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    rest.split("```").next().unwrap().to_owned()
}

#[test]
fn the_example_of_a_benchmark_loads_and_is_clean() {
    let files = [
        "benchmark.toml",
        "dataset.jsonl",
        "instruction.md.j2",
        "initialize.sh.j2",
        "user.toml",
        "solution.sh.j2",
        "verify/evaluate.py",
    ];
    let folder = files
        .iter()
        .fold(Folder::new(), |folder, name| folder.with(name, &file(name)));
    let suite = folder.suite();
    assert_eq!(suite.tasks.len(), 2);
    assert_eq!(agon_suite::lint(&suite), []);
}

#[test]
fn every_file_that_describes_a_benchmark_loads() {
    let described = blocks(BENCHMARKS, "toml");
    assert!(described.len() >= 4);
    for toml in described {
        if toml.contains("timeout_sec") {
            Folder::new()
                .with("a/task.toml", &toml)
                .with("a/instruction.md", "x")
                .with("a/environment/Dockerfile", "FROM debian:12\n")
                .with("a/tests/test.sh", "x")
                .suite();
            continue;
        }
        let row = r#"{"instance_id": "a", "type": "sums", "question": "1+1?", "answer": "2", "token": "k-31"}"#;
        let folder = Folder::new()
            .with("dataset.jsonl", row)
            .with("instruction.md.j2", "{{ question }}")
            .with("solution.sh.j2", "true")
            .with("verify/evaluate.py", "x");
        match toml.contains("[[rules]]") {
            true => folder
                .with("benchmark.toml", "")
                .with("user.toml", &toml)
                .suite(),
            false => folder.with("benchmark.toml", &toml).suite(),
        };
    }
}
