//! Which tasks are played.

use agon_core::Task;
use agon_suite::{Filter, Selection};

use super::fixture::Folder;

fn tasks() -> Vec<Task> {
    Folder::new()
        .with(
            "files/copy.yaml",
            "task: x\nlevel: paper\nname: Copy a file\ntags: [fast, io]\n",
        )
        .with(
            "files/move.yaml",
            "task: x\nlevel: gold\nname: Move (all) files\n",
        )
        .with("net/get.yaml", "task: x\nlevel: bronze\ntags: [net]\n")
        .with("net/free.yaml", "task: x\n")
        .suite()
        .tasks
}

fn selected(selection: &Selection) -> Vec<String> {
    let mut tasks = tasks();
    selection.apply(&mut tasks).unwrap();
    tasks.iter().map(|task| task.id.to_string()).collect()
}

fn filtered(filter: &str) -> Vec<String> {
    let filter: Filter = filter.parse().unwrap();
    let tasks = tasks();
    let held = tasks.iter().filter(|task| filter.holds(task));
    held.map(|task| task.id.id().to_owned()).collect()
}

#[test]
fn filters_look_at_tasks() {
    for (filter, expected) in [
        ("all()", vec!["copy", "get", "move", "free"]),
        ("none()", vec![]),
        ("category(files)", vec!["copy", "move"]),
        ("category(f*) and not id(copy)", vec!["move"]),
        ("category(files) - id(copy)", vec!["move"]),
        ("id(c)", vec![]),
        ("id(~op)", vec!["copy"]),
        ("id(/^[cm]/)", vec!["copy", "move"]),
        ("tag(fast) or tag(net)", vec!["copy", "get"]),
        ("tag(*)", vec!["copy", "get"]),
        ("level(paper)", vec!["copy"]),
        ("level(>=bronze)", vec!["get", "move"]),
        ("level(<gold)", vec!["copy", "get"]),
        ("level(none)", vec!["free"]),
        (r"name(=Move (all\) files)", vec!["move"]),
        ("id({copy,get})", vec!["copy", "get"]),
    ] {
        assert_eq!(filtered(filter), expected, "{filter}");
    }
}

#[test]
fn all_options_must_hold() {
    let selection = Selection {
        categories: vec!["files".to_owned(), "net".to_owned()],
        levels: vec!["gold".to_owned(), "none".to_owned(), "bronze".to_owned()],
        filter: Some("not tag(net)".parse().unwrap()),
        limit: Some(5),
    };
    assert_eq!(selected(&selection), ["files/move", "net/free"]);
    let first = Selection {
        limit: Some(2),
        ..Selection::default()
    };
    assert_eq!(selected(&first), ["files/copy", "net/get"]);
}

#[test]
fn unknown_names_list_the_known_ones() {
    let complaint = |selection: Selection| selection.apply(&mut tasks()).unwrap_err().to_string();
    assert_eq!(
        complaint(Selection {
            categories: vec!["flies".to_owned()],
            ..Selection::default()
        }),
        "there is no category `flies`, did you mean `files`?; the categories are: files, net"
    );
    assert_eq!(
        complaint(Selection {
            levels: vec!["iron".to_owned()],
            ..Selection::default()
        }),
        "there is no level `iron`; the levels are: paper, wood, bronze, silver, gold, none"
    );
    let nothing = Selection {
        filter: Some("none()".parse().unwrap()),
        ..Selection::default()
    };
    assert!(complaint(nothing).contains("no task is selected"));
}
