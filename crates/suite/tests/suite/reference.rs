//! The examples of the reference load.

use super::fixture::Folder;

fn blocks(language: &str) -> Vec<String> {
    let reference = include_str!("../../../../docs/task-format.md");
    let opening = format!("```{language}\n");
    let parts = reference.split(&opening).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_example_of_a_task_loads() {
    let (lists, tasks): (Vec<_>, Vec<_>) = blocks("yaml")
        .into_iter()
        .partition(|block| block.starts_with("- "));
    assert!(tasks.len() >= 5 && lists.len() >= 6);
    let checks = lists.iter().map(|list| format!("task: x\nchecks:\n{list}"));
    for task in tasks.iter().cloned().chain(checks) {
        Folder::new()
            .with("demo/one/task.yaml", &task)
            .with("demo/one/verify/check.py", "x")
            .suite();
    }
}

#[test]
fn the_example_of_a_suite_loads() {
    for toml in blocks("toml") {
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
