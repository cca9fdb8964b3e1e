//! Runs that end early: by SIGKILL at any moment, by Ctrl-C, by a full disk, by a torn line. What was
//! acknowledged stays, the same command goes on, and nothing of ours is left on the machine.

#[path = "killed/ground.rs"]
pub(crate) mod ground;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agon::core::event::Phase;
use agon::core::verdict::Outcome;
use agon::core::{Digest, EventBody};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;

use self::ground::{Ground, Mounted};
use crate::support::{Bench, Called};

fn greeting(before: &str) -> String {
    format!(
        "\
name: Greeting
task: Write hello to greeting.txt.
checks: [{{ type: file, path: greeting.txt, equals: \"hello\\n\" }}]
solution: [{{ action: run, command: '{before}echo hello > greeting.txt' }}]
"
    )
}

const TALK: &str = "\
name: Talk
task: Say done.
environment: { kind: none }
checks: [{ type: returned_result, equals: done }]
solution: [{ action: finish, result: done }]
";

#[test]
fn heavy_killed_again_and_again_a_run_has_one_result_per_trial_and_leaves_nothing() {
    killed_while_it_runs(6, 40);
}

#[test]
fn heavy_long_form_killed_fifty_times_a_run_has_one_result_per_trial_and_leaves_nothing() {
    killed_while_it_runs(50, 150);
}

/// Two tasks with `epochs` each, killed so many `times`.
fn killed_while_it_runs(times: usize, epochs: usize) {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    // The program's name says whose it is, wherever it may be found later.
    let named = format!("(exec -a {} sleep 0.05); ", ground.mark);
    bench.suite(&[("quick", &greeting("")), ("slow", &greeting(&named))]);
    let counted = epochs.to_string();
    let args = ["--agent", "oracle", "--epochs", &counted, "--workers", "4"];

    let mut random = StdRng::seed_from_u64(50);
    for round in 0..times {
        let mut run = ground.start(&args);
        // Half of them at any moment after the start, half shortly after a result.
        let results = if round % 2 == 0 {
            0
        } else {
            random.random_range(1..4)
        };
        for _ in 0..results {
            run.hear("] passed");
        }
        let longest = if results == 0 { 150 } else { 40 };
        let pause = Duration::from_millis(random.random_range(0..longest));
        assert!(!run.ends_within(pause), "nothing is left to be killed");
        run.child.kill().unwrap();
        assert_eq!(run.end().0.signal(), Some(9));
    }
    let done = bench.trials().len();
    assert!(
        (times..2 * epochs).contains(&done),
        "{done} trials were done by then"
    );
    let (status, said) = ground.start(&args).end();
    assert!(status.success(), "{}", said.join("\n"));

    check_whole(&bench, 2 * epochs);
    ground.check_clean();
    let parts = Command::new("find")
        .arg(bench.path("run"))
        .args(["-name", ".*", "-type", "f"])
        .output()
        .unwrap();
    assert!(parts.status.success(), "{parts:?}");
    assert_eq!(String::from_utf8_lossy(&parts.stdout), "");
}

#[test]
fn heavy_killed_while_playing_again_no_verdict_is_lost() {
    killed_while_playing_again(4);
}

#[test]
fn heavy_long_form_killed_twenty_times_while_playing_again_no_verdict_is_lost() {
    killed_while_playing_again(20);
}

fn killed_while_playing_again(times: usize) {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    bench.suite(&[("a", TALK)]);
    let args = ["--agent", "noop", "--epochs", "200", "--workers", "4"];
    bench.run(&args).expect(0);
    let results = |bench: &Bench| {
        let mut finals = [0; 200];
        for line in bench.trials().iter().filter(|line| line.is_final) {
            finals[line.epoch as usize - 1] += 1;
        }
        finals
    };
    let mut random = StdRng::seed_from_u64(11);
    for _ in 0..times {
        let mut run = ground.start(&[&args[..], &["--mode", "rerun-failed"]].concat());
        for _ in 0..random.random_range(1..40) {
            run.hear("] failed");
        }
        run.child.kill().unwrap();
        assert_eq!(run.end().0.signal(), Some(9));
        let finals = results(&bench);
        assert!(finals.iter().all(|count| *count >= 1), "{finals:?}");
    }
    bench.run(&args).expect(0);
    assert_eq!(results(&bench), [1; 200]);
    let mut trials = bench.trials();
    trials.sort_by_key(|line| (line.epoch, line.attempt));
    let mut numbers = 0;
    for attempts in trials.chunk_by(|a, b| a.epoch == b.epoch) {
        // The first verdict counts, whatever was played later and whatever was killed meanwhile.
        for (at, line) in attempts.iter().enumerate() {
            assert_eq!((line.is_final, line.rerun), (at == 0, at > 0));
        }
        numbers += attempts.last().unwrap().attempt as usize;
    }
    let audit = bench.reader().audit().unwrap().clone();
    assert_eq!(audit.findings, [""; 0]);
    assert!(numbers <= trials.len() + audit.never_ended.len());
}

/// One final result for each of `trials`, and the evidence for each of them.
fn check_whole(bench: &Bench, trials: usize) {
    let reader = bench.reader();
    let audit = reader.audit().unwrap();
    assert_eq!(audit.findings, [""; 0]);
    let mut by_trial: BTreeMap<(String, u32), Vec<_>> = BTreeMap::new();
    for line in bench.trials() {
        let trial = (line.task.to_string(), line.epoch);
        by_trial.entry(trial).or_default().push(line);
    }
    assert_eq!(by_trial.len(), trials);
    for (trial, lines) in by_trial {
        let open = audit.never_ended.iter();
        let open = open.filter(|begun| begun.task.to_string() == trial.0 && begun.epoch == trial.1);
        let ended = lines.iter().map(|line| line.attempt);
        let mut attempts: Vec<u32> = ended.chain(open.map(|begun| begun.attempt)).collect();
        attempts.sort_unstable();
        let counted: Vec<u32> = (1..=attempts.len() as u32).collect();
        assert_eq!(attempts, counted, "{trial:?}");
        let finals: Vec<bool> = lines.iter().map(|line| line.is_final).collect();
        assert_eq!(finals.iter().filter(|last| **last).count(), 1, "{trial:?}");
        assert_eq!(finals.last(), Some(&true), "{trial:?}");
        let line = lines.last().unwrap();
        assert_eq!(line.outcome, Outcome::Passed, "{trial:?}");

        let events = reader.events(line).unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
        assert_eq!(events[0].body, EventBody::Phase(Phase::Setup));
        let last = &events.last().unwrap().body;
        assert_eq!(*last, EventBody::Phase(Phase::Graded), "{trial:?}");
        assert!(events.iter().any(|event| event.body.kind() == "verdict"));

        let work = line.work.unwrap();
        let stored = fs::read(reader.folder().blob(&work)).unwrap();
        assert_eq!(Digest::of(&stored), work);
        let mut tar = Vec::new();
        let unpacked = reader.unpack_blob(&work).unwrap();
        File::open(&unpacked)
            .unwrap()
            .read_to_end(&mut tar)
            .unwrap();
        assert!(String::from_utf8_lossy(&tar).contains("greeting.txt"));
    }
}

#[test]
fn a_torn_last_line_is_dropped_and_its_trial_played_again() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    let args = ["--agent", "oracle", "--epochs", "5", "--workers", "1"];
    bench.run(&args).expect(0);
    let path = bench.path("run/trials.jsonl");
    let whole = fs::read(&path).unwrap();
    let before = bench.trials();

    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n');
    let middle = last.unwrap() + 40;
    for (number, cut) in (2..).zip([middle, whole.len() - 1]) {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(bench.trials(), before[..4], "half a line is no result");
        let again = bench.run(&args).expect(0);
        let said = again.stderr();
        assert!(
            said.contains("torn") && said.contains("1 trial to play, 4 done"),
            "{said}"
        );
        let trials = bench.trials();
        assert_eq!(trials[..4], before[..4]);
        assert_eq!(
            (trials.len(), trials[4].attempt, trials[4].is_final),
            (5, number, true)
        );
        // What was begun stays in the record, and the chain of its lines is whole.
        let audit = bench.reader().audit().unwrap().clone();
        assert_eq!(audit.findings, [""; 0]);
        assert_eq!(audit.never_ended.len() as u32, number - 1);
    }
}

#[test]
fn a_broken_line_that_is_not_the_last_is_an_error_that_touches_nothing() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.run(&["--agent", "oracle", "--epochs", "2"]).expect(0);
    let path = bench.path("run/trials.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let broken = text.replacen("\"epoch\"", "\"e\"", 1);
    fs::write(&path, &broken).unwrap();
    for args in [
        &[
            "run", "suite", "--out", "run", "--agent", "oracle", "--epochs", "2",
        ][..],
        &["report", "run"],
    ] {
        let said = bench.call(args).expect(2).stderr();
        assert!(
            said.contains("trials.jsonl can't be read: byte 0"),
            "{said}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), broken);
}

#[test]
fn interrupted_once_a_run_stops_in_order_and_says_how_to_go_on() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    let named = format!("(exec -a {} sleep 0.6); ", ground.mark);
    bench.suite(&[("a", &greeting(&named))]);
    let mut run = ground.start(&["--agent", "oracle", "--epochs", "6", "--workers", "2"]);
    run.hear("trials to play");
    let names = fs::read_dir(&ground.temporary).unwrap().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert!(
        names.len() == 1 && ground.owns(&names[0].to_string_lossy()),
        "what is looked for afterwards is there now: {names:?}"
    );
    run.hear("] passed");
    run.signal(Signal::INT);
    let (status, said) = run.end();
    assert_eq!(status.code(), Some(130), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("stopping")),
        "{said:?}"
    );
    let done = bench.trials().len();
    assert!((1..6).contains(&done), "{done}");
    ground.check_clean();

    let hint = said
        .iter()
        .find_map(|line| line.split_once("go on with: agon "));
    let words: Vec<&str> = hint.unwrap().1.split(' ').collect();
    bench.call(&words).expect(0);
    check_whole(&bench, 6);
}

#[test]
fn interrupted_twice_a_run_ends_at_once() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    let named = format!("(exec -a {} sleep 30); ", ground.mark);
    bench.suite(&[("a", &greeting(&named)), ("b", TALK)]);
    let mut run = ground.start(&["--agent", "oracle", "--workers", "2"]);
    run.hear("] passed");
    run.signal(Signal::INT);
    run.signal(Signal::TERM);
    let (status, said) = run.end();
    assert_eq!(status.code(), Some(130), "{said:?}");
    assert_eq!(bench.trials().len(), 1, "what was done stays");
    let mut clean = bench.agon(&["clean"]);
    let cleaned = clean.env("TMPDIR", &ground.temporary).output().unwrap();
    Called(cleaned).expect(0);
    ground.check_clean();
}

#[test]
fn a_run_folder_is_written_by_one_process_at_a_time() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    bench.suite(&[("a", &greeting("sleep 1; "))]);
    let args = ["--agent", "oracle", "--workers", "2", "--epochs", "2"];
    let mut first = ground.start(&args);
    first.hear("2 trials to play");
    let refused = bench.run(&args).expect(2).stderr();
    assert!(
        refused.contains("run is in use by another agon") && refused.contains("--out"),
        "{refused}"
    );
    let (status, said) = first.end();
    assert!(status.success(), "{said:?}");
    check_whole(&bench, 2);
}

#[test]
fn a_file_that_may_not_grow_further_ends_the_run_and_loses_nothing() {
    let bench = Bench::new();
    // The signal is ignored by what is started, so that writing fails as on a full disk.
    run_out_of_space(&bench, "run", |args| {
        let mut shell = Command::new("bash");
        shell
            .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_agon"))
            .args(args)
            .current_dir(bench.path("."));
        Called(shell.output().unwrap())
    });
}

#[test]
fn needs_root_a_full_disk_ends_the_run_and_loses_nothing() {
    let bench = Bench::new();
    let disk = bench.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Mounted::tmpfs(&disk, "size=320k");
    run_out_of_space(&bench, "disk/run", |args| bench.call(args));
    drop(mounted);
}

/// A run of 400 trials for which there is not enough space at first.
fn run_out_of_space(bench: &Bench, out: &str, confined: impl Fn(&[&str]) -> Called) {
    bench.suite(&[("a", TALK)]);
    let args = [
        "run",
        "suite",
        "--out",
        out,
        "--agent",
        "oracle",
        "--epochs",
        "400",
        "--retries",
        "0",
    ];
    let ended = confined(&args).expect(2);
    let said = ended.stderr();
    let message = format!("agon: can't write results to {out}: ");
    assert_eq!(said.matches(&message).count(), 1, "{said}");
    assert!(
        said.contains("free some space, then go on with: agon run --resume"),
        "{said}"
    );
    let told = said
        .lines()
        .filter(|line| line.contains("] passed"))
        .count();
    let reader = agon::store::RunReader::open(&bench.path(out)).unwrap();
    let kept = reader.trials().unwrap();
    assert!(told > 0 && kept.len() >= told, "{told} of {}", kept.len());

    if let Some(parent) = Path::new(out)
        .parent()
        .filter(|disk| disk.ends_with("disk"))
    {
        let status = Command::new("mount")
            .args(["-o", "remount,size=64m"])
            .arg(bench.path(parent.to_str().unwrap()))
            .status();
        assert!(status.unwrap().success());
    }
    bench.call(&args).expect(0);
    let all = reader.trials().unwrap();
    let passed = |line: &&agon::store::TrialLine| line.outcome == Outcome::Passed;
    for line in kept.iter().filter(passed) {
        assert!(all.contains(line), "{line:?}");
        assert!(!reader.events(line).unwrap().is_empty());
    }
    let mut finals: Vec<u32> = all.iter().filter(|l| l.is_final).map(|l| l.epoch).collect();
    finals.sort_unstable();
    assert_eq!(finals, (1..=400).collect::<Vec<_>>());
    assert_eq!(all.iter().filter(passed).count(), 400);
}
