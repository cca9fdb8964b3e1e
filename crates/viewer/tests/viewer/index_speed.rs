//! How fast indexes are; printed, not judged: `cargo nextest run --release -p agon-viewer --run-ignored
//! only --no-capture index_speed`.

use std::time::Instant;

use agon_viewer::shape::{Flag, SortKey, State, TrialQuery};

use crate::fixture::{Shelf, big};

const TRIALS: u32 = 10_000;

#[test]
#[ignore = "takes a while and prints figures"]
fn figures() {
    let shelf = Shelf::new();
    let folder = big(&shelf.place("one"), TRIALS).folder;
    let length = std::fs::metadata(folder.trials_file()).unwrap().len();
    println!("{TRIALS} trials, {length} bytes");
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        println!("{what}: {:.2} ms", began.elapsed().as_secs_f64() * 1e3);
    };
    let run = shelf.run("one");
    let began = Instant::now();
    run.refresh().unwrap();
    let took = began.elapsed().as_secs_f64();
    println!(
        "index: {:.2} ms, {:.0} trials/s",
        took * 1e3,
        f64::from(TRIALS) / took
    );
    timed("refresh without change", &mut || {
        run.refresh().unwrap();
    });
    let warm = shelf.run("one");
    timed("open a warm index", &mut || {
        warm.refresh().unwrap();
    });
    timed("first overview", &mut || drop(run.overview().unwrap()));
    timed("overview again", &mut || drop(run.overview().unwrap()));
    let fresh = shelf.run("one");
    timed("card of a warm index", &mut || drop(fresh.card()));
    timed("card again", &mut || drop(fresh.card()));
    timed("names of checks", &mut || {
        drop(run.failed_checks().unwrap())
    });
    let plain = TrialQuery::default();
    let queries = [
        ("all", plain.clone()),
        (
            "all, newest first",
            TrialQuery {
                desc: true,
                ..plain.clone()
            },
        ),
        (
            "by task",
            TrialQuery {
                sort: SortKey::Task,
                ..plain.clone()
            },
        ),
        (
            "by score",
            TrialQuery {
                sort: SortKey::Score,
                desc: true,
                ..plain.clone()
            },
        ),
        (
            "by cost",
            TrialQuery {
                sort: SortKey::Cost,
                ..plain.clone()
            },
        ),
        (
            "by level",
            TrialQuery {
                sort: SortKey::Level,
                ..plain.clone()
            },
        ),
        (
            "failed",
            TrialQuery {
                outcome: vec![State::Failed],
                ..plain.clone()
            },
        ),
        (
            "two words",
            TrialQuery {
                q: "LINE 99".to_owned(),
                ..plain.clone()
            },
        ),
        (
            "no such word",
            TrialQuery {
                q: "nothing-of-it".to_owned(),
                ..plain.clone()
            },
        ),
        (
            "category",
            TrialQuery {
                category: vec!["web".to_owned()],
                ..plain.clone()
            },
        ),
        (
            "check",
            TrialQuery {
                check: vec!["command_output 3".to_owned()],
                ..plain.clone()
            },
        ),
        (
            "tainted",
            TrialQuery {
                flag: vec![Flag::Tainted],
                ..plain
            },
        ),
    ];
    for (name, query) in &queries {
        let total = run.trials(query, 0, 1).unwrap().total;
        let other = shelf.run("one");
        other.refresh().unwrap();
        timed(&format!("{name} ({total}), 100 rows"), &mut || {
            drop(other.trials(query, 0, 100).unwrap());
        });
        timed("  last 500 rows", &mut || {
            drop(other.trials(query, total.saturating_sub(500), 500).unwrap());
        });
        let last = other.trials(query, total.saturating_sub(1), 1).unwrap();
        if let Some(row) = last.rows.first() {
            timed("  neighbours", &mut || {
                drop(other.neighbours(query, &row.key).unwrap())
            });
        }
    }
}

#[test]
#[ignore = "takes a while and prints figures"]
fn a_list_of_a_thousand_runs() {
    let shelf = Shelf::new();
    for n in 0..1_000 {
        big(&shelf.place(&format!("run-{n:04}")), 20);
    }
    let cards = |what: &str, library: &agon_viewer::Library| {
        let began = Instant::now();
        let cards: Vec<_> = library
            .runs()
            .unwrap()
            .iter()
            .map(|run| run.card())
            .collect();
        println!(
            "{what}: {} cards in {:.0} ms",
            cards.len(),
            began.elapsed().as_secs_f64() * 1e3
        );
    };
    let library = shelf.library();
    cards("nothing indexed", &library);
    cards("again", &library);
    cards("indexed, just started", &shelf.library());
}
