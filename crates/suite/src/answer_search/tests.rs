//! What is a sign, and what is none.

use agon_core::SystemClock;

use super::{AnswerMatch, AnswerSearch};
use crate::{LoadOptions, load_suite};

const TASK: &str = r#"
name: Find the code that nobody knows
task: Find the code. It looks like example-1234, and "not the one you want" is printed otherwise.
checks:
  - { type: returned_result, equals: "hidden-4711-code" }
  - { type: file, path: a.txt, contains: "not the one you want" }
  - { type: file, path: b.txt, equals: "example-1234" }
  - { type: file, path: c.txt, equals: "hello\n" }
solution:
  - { action: run, command: "grep -rn zebra /srv/data | cut -d: -f1 | sort -u > zebras.txt" }
  - { action: finish, result: "hidden-4711-code" }
"#;

const CHECK: &str = "#!/usr/bin/env python3
import json, os, sys
wanted = 'verify-90125-word'
rows = [row for row in open('/work/rows.csv').read().splitlines() if row]
totals = {row.split(',')[0]: int(row.split(',')[1]) for row in rows[1:]}
score = sum(1 for name in totals if totals[name] == expected_of(name))
print(json.dumps({'score': score, 'nonce': os.environ['AGON_NONCE']}))
";

/// The tasks a, b, c, d of a suite; the check of each is a little different.
fn search() -> AnswerSearch {
    let folder = tempfile::tempdir().unwrap();
    for id in ["a", "b", "c", "d"] {
        let task = folder.path().join("test").join(id);
        std::fs::create_dir_all(task.join("verify")).unwrap();
        std::fs::create_dir_all(task.join("visible")).unwrap();
        std::fs::write(task.join("visible/same.txt"), "x".repeat(100)).unwrap();
        std::fs::write(task.join("verify/same.txt"), "x".repeat(100)).unwrap();
        let (check, yaml) = match id {
            "a" => (CHECK.to_owned(), TASK.to_owned()),
            other => (
                format!(
                    "{}\nonly_in_{other} = [len(row) for row in rows if row]\n",
                    CHECK.replace("verify-90125-word", "")
                ),
                TASK.replace("hidden-4711", &format!("other-{other}-4712"))
                    .replace("zebra", other),
            ),
        };
        std::fs::write(task.join("verify/check.py"), check).unwrap();
        std::fs::write(task.join("task.yaml"), yaml).unwrap();
    }
    let clock = SystemClock::default();
    let suite = load_suite(folder.path(), &LoadOptions::new(&clock)).unwrap();
    AnswerSearch::of(suite.tasks.iter())
}

fn found(search: &AnswerSearch, text: &str) -> Vec<String> {
    let found = search.look_into(text.as_bytes()).unwrap();
    let told = |one: &AnswerMatch| format!("{}: {}", one.task, one.what);
    found.iter().map(told).collect()
}

#[test]
fn what_checks_expect_and_solutions_do_is_a_sign() {
    let search = search();
    assert_eq!(
        found(&search, "{\"a\": \"hidden-4711-code\"}"),
        ["test/a: its solution", "test/a: what a check expects"]
    );
    assert_eq!(
        found(&search, "x = 'verify-90125-word'"),
        ["test/a: verify/check.py"]
    );
    assert_eq!(
        found(&search, CHECK),
        ["test/a: verify/check.py"],
        "lines that all checks have in common are nobody's own, the whole is"
    );
    assert_eq!(
        found(
            &search,
            "os.system('grep -rn zebra /srv/data | cut -d: -f1 | sort -u > zebras.txt')"
        ),
        ["test/a: its solution"]
    );
}

#[test]
fn what_agents_are_told_and_what_is_common_is_no_sign() {
    let search = search();
    for text in [
        "",
        "hello\n",
        "example-1234",
        "not the one you want",
        "test/a Find the code that nobody knows",
        &"x".repeat(100),
        "import json, os, sys\nprint(json.dumps({'score': score, 'nonce': os.environ['AGON_NONCE']}))\n",
        CHECK.split_once("rows = ").unwrap().1,
    ] {
        assert_eq!(found(&search, text), Vec::<String>::new(), "{text}");
    }
}
