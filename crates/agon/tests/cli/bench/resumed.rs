//! Runs that are cut and gone on with: every instance has one row in the end, and no result is lost.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;
use serde_json::Value;

use super::{BENCH_RUN, ids};
use crate::killed::ground::Ground;
use crate::scripted::{finish, lines, rows, run};
use crate::support::Bench;

const LEAF: &str = "turns_hello_maxiter_8";

#[test]
fn heavy_killed_again_and_again_every_instance_has_one_row() {
    killed(3, 24);
}

#[test]
fn heavy_long_form_killed_eight_times_every_instance_has_one_row() {
    killed(8, 60);
}

/// So many `instances`, killed so many `times`.
fn killed(times: usize, instances: usize) {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    let named: Vec<String> = (0..instances).map(|n| format!("i{n:02}")).collect();
    let words: Vec<(&str, &str)> = named.iter().map(|id| (id.as_str(), "hello")).collect();
    bench.words(&words);
    let slow = format!("(exec -a {} sleep 0.05); echo hello > out.txt", ground.mark);
    let model = bench.turns("hello", &[run(&slow), finish("Done.")]);
    let args = [&BENCH_RUN[..], &["-l", &model, "--eval-num-workers", "4"]].concat();
    let file = bench.results(LEAF).join("output.jsonl");

    let mut random = StdRng::seed_from_u64(9);
    let mut before: BTreeMap<String, Value> = BTreeMap::new();
    for _ in 0..times {
        let mut running = ground.begin(&args);
        for _ in 0..random.random_range(1..6) {
            running.hear("] passed");
        }
        let pause = Duration::from_millis(random.random_range(0..60));
        assert!(!running.ends_within(pause), "nothing is left to be killed");
        running.child.kill().unwrap();
        assert_eq!(running.end().0.signal(), Some(9));
        // A torn line is no row.
        let text = fs::read_to_string(&file).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let rows: Vec<Value> = whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let now: BTreeMap<String, Value> = ids_and_rows(&rows);
        assert_eq!(now.len(), rows.len(), "two rows of one instance");
        for (id, row) in &before {
            assert_eq!(
                now.get(id),
                Some(row),
                "the result of {id} is lost or another"
            );
        }
        before = now;
    }
    assert!(before.len() >= times, "{}", before.len());
    let (status, said) = ground.begin(&args).end();
    assert!(status.success(), "{}", said.join("\n"));
    let all = rows(&file);
    assert_eq!(ids(&all), named);
    let now = ids_and_rows(&all);
    for (id, row) in &before {
        assert_eq!(now.get(id), Some(row), "{id}");
    }
    assert_eq!(
        fs::read_dir(bench.results(LEAF).join("infer_logs"))
            .unwrap()
            .count(),
        instances
    );
    ground.check_clean();
    let parts = fs::read_dir(bench.results(LEAF)).unwrap();
    let hidden =
        parts.filter(|entry| entry.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.');
    assert_eq!(hidden.count(), 0, "half-made files are left");
}

fn ids_and_rows(rows: &[Value]) -> BTreeMap<String, Value> {
    let pair = |row: &Value| (row["instance_id"].as_str().unwrap().to_owned(), row.clone());
    rows.iter().map(pair).collect()
}

#[test]
fn the_same_command_has_nothing_left_to_do() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "world")]);
    let model = bench.says_hello();
    bench.bench_run(&["-l", &model]).expect(0);
    let read = || {
        let folder = bench.results(LEAF);
        ["output.jsonl", "metadata.json", "trials.jsonl"].map(|name| lines(&folder.join(name)))
    };
    let first = read();
    let again = bench.bench_run(&["-l", &model]).expect(0);
    assert!(
        again.stderr().contains("0 trials to play, 2 done before"),
        "{}",
        again.stderr()
    );
    assert_eq!(read(), first);
    // Rows are views: whoever damages them gets them back.
    fs::write(
        bench.results(LEAF).join("output.jsonl"),
        "{\"instance_id\": \"a\", \"te",
    )
    .unwrap();
    fs::remove_dir_all(bench.results(LEAF).join("infer_logs")).unwrap();
    bench.bench_run(&["-l", &model]).expect(0);
    assert_eq!(read(), first);
    assert!(
        bench
            .results(LEAF)
            .join("infer_logs/instance_b.log")
            .is_file()
    );
}

#[test]
fn what_failed_is_played_again_on_demand_and_has_one_row() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "world")]);
    let model = bench.says_hello();
    bench.bench_run(&["-l", &model]).expect(0);
    bench
        .bench_run(&["-l", &model, "--mode", "rerun-failed"])
        .expect(0);
    let rows = rows(&bench.results(LEAF).join("output.jsonl"));
    assert_eq!(ids(&rows), ["a", "b"]);
}

#[test]
fn two_commands_in_one_folder_are_one_too_many() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    bench.words(&[("a", "hello")]);
    let sleep = format!("(exec -a {} sleep 600)", ground.mark);
    let model = bench.turns("hello", &[run(&sleep)]);
    let args = [&BENCH_RUN[..], &["-l", &model]].concat();
    let mut first = ground.begin(&args);
    first.hear("1 trial to play");
    let refused = bench.call(&args).expect(2);
    assert!(refused.stderr().contains("another"), "{}", refused.stderr());
    first.signal(Signal::INT);
    let (status, said) = first.end();
    assert_eq!(status.code(), Some(130), "{}", said.join("\n"));
    ground.check_clean();
}

#[test]
fn another_experiment_does_not_go_on_with_it() {
    let bench = Bench::new();
    bench.words(&[("a", "hello")]);
    let model = bench.says_hello();
    bench.bench_run(&["-l", &model]).expect(0);
    bench.words(&[("a", "world")]);
    let refused = bench.bench_run(&["-l", &model]).expect(2);
    assert!(refused.stderr().contains("words/a"), "{}", refused.stderr());
}
