//! Where an index can't be kept, and two viewers that keep the same one.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;

use agon_report::{Interval, Method};
use serde_json::json;

use super::*;
use crate::shape::State;

fn digest(of: &str) -> String {
    agon_core::Digest::of(of.as_bytes()).to_string()
}

/// A run of `tasks` tasks, of which none was played.
fn begin(path: &Path, tasks: u32) {
    let task = |n: u32| {
        json!({
            "task": format!("a/t{n}"), "name": "a name", "weight": 1.0, "steps": 10, "seconds": 60.0,
            "environment": "local", "key": digest("k"), "played": digest("k"),
        })
    };
    let text = json!({
        "format": 1, "run": "r", "created": "2026-01-02T03:04:05Z", "agon": "0.1.0",
        "suites": [{"name": "s", "path": "s", "digest": digest("s")}],
        "agent": {"spec": "oracle"}, "seed": 1, "epochs": 1, "dates_from": "2026-01-02T03:04:05Z",
        "plan": digest("plan"), "checkers": "1", "tasks": (0..tasks).map(task).collect::<Vec<_>>(),
        "host": {"os": "o", "kernel": "k", "cpus": 1, "memory_mib": 1},
    });
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("run.json"), text.to_string()).unwrap();
}

fn end(path: &Path, n: u32) {
    let line = json!({
        "task": format!("a/t{n}"), "epoch": 1, "attempt": 1, "final": true, "outcome": "passed",
        "score": 1.0, "end": "finished", "steps": 3,
        "seconds": {"agent": 1.0, "environment": 0.5, "harness": 0.25},
        "usage": {"input_tokens": 9, "output_tokens": 1, "calls": 1, "money": 1_000_000u64},
        "key": digest("k"), "at": "2026-01-02T03:04:06Z",
        "events": {"file": "trials/segments/000001.jsonl", "at": 0, "bytes": 0},
    });
    let file = File::options()
        .create(true)
        .append(true)
        .open(path.join("trials.jsonl"));
    writeln!(file.unwrap(), "{line}").unwrap();
}

fn run(root: &Path) -> Run {
    Run::new("r".to_owned(), root.join("r"), &root.join("cache"))
}

#[test]
fn on_a_full_disk_everything_is_shown_and_it_is_told() {
    let root = tempfile::tempdir().unwrap();
    begin(&root.path().join("r"), 2_000);
    let run = run(root.path());
    let index = Index::open(&run.place).unwrap();
    // As good as a disk that is full.
    index.db.pragma_update(None, "max_page_count", 4).unwrap();
    *lock(&run.index) = Some(index);
    let card = run.card();
    assert_eq!((card.planned, card.missing), (2_000, 2_000));
    let told = &card.problems;
    assert!(
        told.iter().any(|one| one.contains("can't be kept")),
        "{told:?}"
    );
    assert_eq!(
        run.trials(&TrialQuery::default(), 0, 10).unwrap().total,
        2_000
    );
}

/// The one found out the interval of the score of what the other has meanwhile gone past.
#[test]
fn two_viewers_do_not_set_each_other_back() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("r");
    begin(&path, 2);
    end(&path, 0);
    let (one, other) = (run(root.path()), run(root.path()));
    let revision = one.refresh().unwrap();
    end(&path, 1);
    other.refresh().unwrap();
    let found = Some(Interval {
        low: 0.5,
        high: 0.75,
        method: Method::Binomial,
    });
    lock(&one.index)
        .as_ref()
        .unwrap()
        .keep_slow(revision, found, &[])
        .unwrap();
    for run in [&one, &other, &one] {
        let every = TrialQuery {
            attempts: true,
            ..TrialQuery::default()
        };
        let rows = run.trials(&every, 0, 10).unwrap().rows;
        let states: Vec<State> = rows.iter().map(|row| row.state).collect();
        assert_eq!(states, [State::Passed, State::Passed]);
        assert_eq!(run.card().money, Some(2.0));
        assert_ne!(run.card().score_ci, found);
    }
}

/// A question that SQLite can't answer says nothing about the file.
#[test]
fn only_damage_empties_an_index_and_the_file_stays_the_same() {
    let root = tempfile::tempdir().unwrap();
    begin(&root.path().join("r"), 3);
    let run = run(root.path());
    run.refresh().unwrap();
    let inode = || fs::metadata(&run.place).unwrap().ino();
    let before = inode();
    let deep = vec!["1"; 1_100].join(" AND ");
    let asked = run.with_index(|index| {
        let deep = format!("SELECT count(*) FROM row WHERE {deep} AND {deep}");
        Ok(index.db.query_row(&deep, [], |row| row.get::<_, i64>(0))?)
    });
    assert!(asked.is_err());
    assert_eq!(inode(), before);
    run.close();
    let db = rusqlite::Connection::open(&run.place).unwrap();
    db.execute_batch("DROP TABLE failed").unwrap();
    drop(db);
    assert_eq!(run.failed_checks().unwrap(), []);
    assert_eq!(run.trials(&TrialQuery::default(), 0, 10).unwrap().total, 3);
    assert_eq!(inode(), before, "another viewer may have it open");
}
