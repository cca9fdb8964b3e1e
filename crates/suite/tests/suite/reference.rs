//! The examples of the reference load.

use super::fixture::Folder;

const FORMAT: &str = include_str!("../../../../docs/task-format.md");
const CHECKS: &str = include_str!("../../../../docs/checks.md");

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
