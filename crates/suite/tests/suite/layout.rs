//! Where tasks may lie.

use std::path::Path;

use agon_core::{Action, Solution};

use super::fixture::{Folder, load};

fn ids(folder: &Folder) -> Vec<String> {
    let suite = folder.suite();
    suite.tasks.iter().map(|task| task.id.to_string()).collect()
}

#[test]
fn files_and_folders_one_level_below_a_category() {
    let folder = Folder::new()
        .with("b/file.yaml", "task: x\n")
        .with("a/folder/task.yaml", "task: x\n")
        .with("a/folder/deeper/task.yaml", "broken: [")
        .with("a/other.yml", "broken: [")
        .with("a/notes.txt", "not read")
        .with("a/.hidden.yaml", "broken: [")
        .with(".git/x.yaml", "broken: [")
        .with("root.yaml", "broken: [");
    assert_eq!(ids(&folder), ["a/folder", "b/file"]);
    assert_eq!(folder.suite().name, "suite");
}

#[test]
fn one_category_is_not_taken_for_a_suite() {
    let folder = Folder::new()
        .with("one.yaml", "task: x\n")
        .with("two/task.yaml", "task: x\n")
        .with("two/verify/check.sh", "true");
    assert!(folder.complaint().contains("one category of a suite"));
}

#[test]
fn a_folder_brings_files_and_a_solution() {
    let suite = Folder::new()
        .with("a/t/task.yaml", "task: x\n")
        .with("a/t/visible/data/in.txt", "1")
        .with("a/t/verify/check.sh", "true")
        .with("a/t/solution/solve.sh", "echo 1\n")
        .with("a/t/solution/notes.md", "not read")
        .suite();
    let task = &suite.tasks[0];
    assert!(task.visible.show().find(Path::new("data/in.txt")).is_some());
    assert!(
        task.verify
            .inspect(|tree| tree.find(Path::new("check.sh")).is_some())
    );
    let solution = task.solution.on_host().clone().unwrap();
    assert_eq!(solution, Solution::Actions(vec![Action::run("echo 1\n")]));
}

#[test]
fn one_task_is_a_suite() {
    let folder = Folder::new()
        .with(
            "suite.toml",
            "name = 'Mine'\n[defaults.limits]\nsteps = 3\n",
        )
        .with("a/file.yaml", "task: x\n")
        .with("a/folder/task.yaml", "task: x\n")
        .with("a/broken.yaml", "broken: [");
    for (path, id) in [
        ("a/file.yaml", "a/file"),
        ("a/folder", "a/folder"),
        ("a/folder/task.yaml", "a/folder"),
    ] {
        let suite = load(&folder.path().join(path)).unwrap();
        assert_eq!(suite.name, "Mine");
        assert_eq!(suite.tasks.len(), 1);
        assert_eq!(suite.tasks[0].id.to_string(), id);
        assert_eq!(suite.tasks[0].limits.steps, 3);
    }
}

#[test]
fn a_task_means_the_same_alone_and_in_its_suite() {
    let folder = Folder::of_task("task: x\n").with("suite.toml", "[defaults.limits]\nsteps = 3\n");
    let alone = load(&folder.path().join("demo/one.yaml")).unwrap();
    assert_eq!(alone.tasks[0].digest, folder.suite().tasks[0].digest);
}
