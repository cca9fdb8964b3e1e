//! The suites and agents that ship with Agon: no agent of ours knows an answer, and every solution of ours
//! would be found.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::SystemClock;
use agon_core::task::Solution;
use agon_suite::{AnswerSearch, LoadOptions, Suite, load_suite};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn suites() -> Vec<Suite> {
    let clock = SystemClock::default();
    let names = fs::read_dir(root().join("suites")).unwrap();
    let loaded = names.map(|name| load_suite(&name.unwrap().path(), &LoadOptions::new(&clock)));
    let loaded: Vec<Suite> = loaded.filter_map(Result::ok).collect();
    assert!(loaded.len() > 3);
    loaded
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if !path.is_symlink() {
            found.push(path);
        }
    }
}

#[test]
fn agents_of_ours_hold_no_answers_of_suites_of_ours() {
    let mut all = Vec::new();
    for folder in [
        "examples",
        "crates/agent/src",
        "crates/workflow/src",
        "docs",
    ] {
        files(&root().join(folder), &mut all);
    }
    assert!(all.len() > 100);
    for suite in suites() {
        let search = AnswerSearch::of(suite.tasks.iter());
        for file in &all {
            let found = search.look_into(fs::File::open(file).unwrap()).unwrap();
            assert!(
                found.is_empty(),
                "{} in {}: {found:?}",
                suite.name,
                file.display()
            );
        }
    }
}

#[test]
fn a_file_of_verify_and_a_whole_solution_are_found() {
    let (mut scripts, mut solutions) = (0, 0);
    for suite in suites() {
        let search = AnswerSearch::of(suite.tasks.iter());
        for task in &suite.tasks {
            task.verify.inspect(|tree| {
                for entry in tree.entries().iter().filter(|entry| entry.size > 500) {
                    let found = search.look_into(tree.open(entry).unwrap().1).unwrap();
                    scripts += usize::from(found.iter().any(|one| one.task == task.id));
                }
            });
            if let Some(Solution::Actions(actions)) = task.solution.on_host() {
                let text = format!("{actions:?}");
                let found = search.look_into(text.as_bytes()).unwrap();
                solutions += usize::from(found.iter().any(|one| one.task == task.id));
            }
        }
    }
    assert!(scripts > 5 && solutions > 20, "{scripts} {solutions}");
}
