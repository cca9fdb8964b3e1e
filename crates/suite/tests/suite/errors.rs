//! How errors look: all at once, each at its place, with what was probably meant.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::fixture::{Folder, load};

#[test]
fn unknown_keys_name_the_nearest() {
    let complaint =
        Folder::of_task("name: One\ntask: x\nchekcs:\n  - {type: file, path: a}\n").complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn every_wrong_check_is_reported() {
    let complaint = Folder::of_task(
        "task: x\nchecks:\n  - {type: command_output, command: ls, path: a}\n  \
             - {type: fil, path: a}\n  - {type: file, path: ../a}\n  \
             - {type: returned_result}\n  - {type: file, path: a, matches: '['}\n  \
             - type: events\n    must:\n      - {action: runn}\n  \
             - {type: file, path: a, equals: }\n  - {type: script, path: x.sh}\n  \
             - {type: all, checks: [{type: file}]}\n  - {type: file, path: a, tolerance: 1}\n",
    )
    .complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn every_wrong_file_is_reported() {
    let complaint = Folder::new()
        .with("a/broken.yaml", "task: [x\nname: y\n")
        .with("a/level.yaml", "task: x\nlevel: golden\n")
        .with("a/missing.yaml", "name: x\n")
        .with("a/number.yaml", "task: x\nlimits: {steps: many}\n")
        .with("a/twice.yaml", "task: x\nname: a\ntask: y\n")
        .with("a/empty.yaml", "")
        .with("b/bad name.yaml", "task: x\n")
        .with("b/same.yaml", "task: x\n")
        .with("b/same/task.yaml", "task: x\n")
        .with("b/lost/verify/a.sh", "x")
        .complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn environments_and_solutions() {
    let complaint = Folder::new()
            .with("a/a.yaml", "task: x\nenvironment: {kind: container}\n")
            .with("a/b.yaml", "task: x\nenvironment: {kind: local, image: 'a:1', screen: 1280x800}\n")
            .with("a/c.yaml", "task: x\nenvironment: {kind: desktop, screen: large, network: some}\n")
            .with("a/d.yaml", "task: x\nenvironment:\n  network: some\n  env: {A-B: 1}\n")
            .with("a/e.yaml", "task: x\nsolution:\n  - {action: run, comand: ls}\n  - {action: fly}\n  - {action: click, x: 1}\n")
            .with("a/f.yaml", "task: x\nlimits: {money: 0.1234567890123}\n")
            .with("a/g.yaml", "task: x\nlimits: {steps: 0}\n")
            .with("a/i.yaml", "task: x\nenvironment: {kind: none}\nsetup_cmd: ls\nchecks: [{type: file, path: a}]\n")
            .with("a/j.yaml", "task: x\nenvironment: {kind: local}\ndesktop_image: a:1\n")
            .with("a/k.yaml", "task: x\nenvironment: {kind: desktop, image: a:2}\ndesktop_image: a:1\n")
            .with("a/l.yaml", "task: x\nenvironment: {kind: local, gl: true, settle: 1, fresh_checks: true}\n")
            .with("a/m.yaml", "task: x\nenvironment: {kind: desktop, fresh_checks: true}\n")
            .with("a/p.yaml", "task: x\nenvironment: {kind: container, image: a:1, grading: alive, fresh_checks: true}\n")
            .with("a/q.yaml", "task: x\nenvironment: {kind: container, image: a:1, grading: lively}\n")
            .with("a/n.yaml", "task: x\nenvironment: {kind: desktop, settle: soon}\n")
            .with("a/o.yaml", "task: x\nsolution:\n  - {action: click, x: 1, y: 1, count: 0}\n  - {action: drag, path: [{x: 1, y: 1}]}\n")
            .with("a/h/task.yaml", "task: x\nsolution: [{action: finish}]\n")
            .with("a/h/solution/solve.sh", "true")
            .complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn suite_files_have_the_same_errors() {
    for (name, toml) in [
        ("key", "nam = 'x'\n"),
        ("level", "[weights]\ngolf = 1\n"),
        ("negative", "[weights]\ngold = -1\n"),
        ("syntax", "name = \n"),
        ("default", "[defaults.limits]\nseconds = 'long'\n"),
    ] {
        let folder = Folder::of_task("task: x\n").with("suite.toml", toml);
        let complaint = folder.complaint();
        insta::assert_snapshot!(format!("suite_toml_{name}"), complaint);
    }
}

#[test]
fn a_folder_without_tasks_says_what_belongs_there() {
    let complaint = Folder::new().with("task1.yaml", "task: x\n").complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn what_can_not_be_read() {
    assert!(load(Path::new("/nonexistent/suite")).is_err());
    let folder = Folder::of_task("task: x\n");
    let file = folder.path().join("demo/one.yaml");
    fs::write(&file, b"task: \xff\n").unwrap();
    assert!(folder.complaint().contains("not UTF-8"));
    fs::write(&file, "x".repeat((1 << 20) + 1)).unwrap();
    assert!(folder.complaint().contains("larger than 1 MiB"));
}

#[test]
fn links_out_of_a_task_are_refused() {
    let folder = Folder::new()
        .with("a/t/task.yaml", "task: x\n")
        .with("a/t/visible/x", "");
    symlink("/etc/passwd", folder.path().join("a/t/visible/leak")).unwrap();
    assert!(folder.complaint().contains("leaves its folder"));
}

const RICH: &str = "name: Ünï\nlevel: gold\ntask: |\n  two\n  lines\nenvironment: {kind: local, env: {A: 1}}\n\
limits: {steps: 3, money: 0.5}\nchecks:\n  - {type: file, path: a, json: {pointer: /a, equals: [1, ~]}}\n  \
- type: any\n    checks: [{type: returned_result, matches: '^ß+$'}]\nsolution: [{action: finish, result: 1}]\n";

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(128))]
    #[test]
    fn damaged_files_give_errors_that_can_be_shown(
        at in 0..RICH.chars().count(),
        gone in 0usize..6,
        new in "[-:{}\\[\\]&*!|>'\"#%\n\t a0ß]{0,3}",
    ) {
        let start: String = RICH.chars().take(at).collect();
        let rest: String = RICH.chars().skip(at + gone).collect();
        let folder = Folder::of_task(&format!("{start}{new}{rest}"));
        if folder.load().is_err() {
            proptest::prop_assert!(folder.complaint().contains("suite/demo/one.yaml:"));
        }
    }
}
