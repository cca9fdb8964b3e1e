//! An operator stops one trial of a run that goes on, whatever it waits for: its turn ends, it is graded as
//! it stands, and nobody else notices. And what others see of the trials that are being played.

use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use agon::core::EventBody;
use agon::core::screen::ScreenMoment;
use agon::core::verdict::{Outcome, TurnEnd};
use agon::store::{Order, Request, RunFolder, RunningAttempt, TrialLine, running};
use serde_json::{Value, json};

use crate::http_service::{self, Response};
use crate::killed::ground::{Ground, Started};
use crate::support::Bench;

/// Longer than anything here takes; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

fn folder(bench: &Bench) -> RunFolder {
    RunFolder::at(bench.path("run"))
}

/// Looks until so many attempts are being played.
#[track_caller]
fn playing(bench: &Bench, count: usize) -> Vec<RunningAttempt> {
    playing_until(bench, |found| found.len() >= count)
}

#[track_caller]
fn playing_until(bench: &Bench, enough: impl Fn(&[RunningAttempt]) -> bool) -> Vec<RunningAttempt> {
    let deadline = Instant::now() + HANG;
    let (_never, nothing) = channel::<()>();
    loop {
        let (mut found, _) = running(&folder(bench), 0).unwrap();
        if enough(&found) {
            found.sort_by_key(|attempt| (attempt.task.clone(), attempt.epoch));
            return found;
        }
        assert!(Instant::now() < deadline, "{found:?}");
        nothing.recv_timeout(Duration::from_millis(20)).ok();
    }
}

fn request(attempt: &RunningAttempt) -> Request {
    Request {
        at: "2026-11-16T12:00:00Z".parse().unwrap(),
        order: Order::Stop,
        task: attempt.task.clone(),
        epoch: attempt.epoch,
        attempt: attempt.attempt,
        began: Some(attempt.began),
        by: "Ada".to_owned(),
    }
}

#[track_caller]
fn succeeds(run: Started) {
    let (status, said) = run.end();
    assert!(status.success(), "{}", said.join("\n"));
}

/// Plays the suite, stops its only trial when it is being played, and gives what was counted.
#[track_caller]
fn stopped(bench: &Bench, args: &[&str]) -> TrialLine {
    let mut ground = Ground::new(bench);
    let run = ground.start(args);
    let attempts = playing(bench, 1);
    request(&attempts[0]).append(&folder(bench)).unwrap();
    succeeds(run);
    let line = bench.trial();
    assert_eq!(line.end, Some(TurnEnd::Operator), "{line:?}");
    let note = "an operator stopped the trial: Ada";
    let events = bench.reader().events(&line).unwrap();
    let mut ended = None;
    let told = events.iter().any(|event| {
        if matches!(event.body, EventBody::End(TurnEnd::Operator)) {
            ended = Some(event.seq);
        }
        event.body == EventBody::Note(note.to_owned()) && event.cause == ended
    });
    assert!(told, "{events:?}");
    line
}

fn waits(command: &str) -> String {
    let task = json!({
        "task": "Write two files.",
        "limits": { "seconds": 500, "step": 400 },
        "checks": [
            { "type": "file", "path": "half.txt", "equals": "half\n" },
            { "type": "file", "path": "whole.txt", "equals": "whole\n" },
        ],
        "solution": [{
            "action": "run", "timeout": 300,
            "command": format!("echo half > half.txt; {command}; echo whole > whole.txt"),
        }],
    });
    task.to_string()
}

#[test]
fn a_trial_is_stopped_in_a_command_and_the_others_go_on() {
    let bench = Bench::new();
    bench.suite(&[("other", &waits("sleep 4")), ("slow", &waits("sleep 300"))]);
    let mut ground = Ground::new(&bench);
    let run = ground.start(&["--agent", "oracle", "--workers", "2"]);
    let attempts = playing(&bench, 2);
    let slow = &attempts[1];
    assert_eq!(slow.task.id(), "slow");
    assert!(folder(&bench).is_written());
    // Who is meant by these does not run.
    let other = |epoch, attempt| Request {
        epoch,
        attempt,
        began: None,
        ..request(&attempts[0])
    };
    for nobody in [other(2, 1), other(1, 2)] {
        nobody.append(&folder(&bench)).unwrap();
    }
    request(slow).append(&folder(&bench)).unwrap();
    request(slow).append(&folder(&bench)).unwrap();
    succeeds(run);
    assert!(!folder(&bench).is_written());

    let trials = bench.trials();
    let of = |id: &str| trials.iter().find(|line| line.task.id() == id).unwrap();
    assert_eq!(trials.len(), 2);
    assert_eq!(of("other").outcome, Outcome::Passed);
    assert_eq!(of("other").end, Some(TurnEnd::Finished));
    assert!(of("other").failed_checks.is_empty());
    let line = of("slow");
    assert_eq!(line.end, Some(TurnEnd::Operator));
    assert_eq!(line.outcome, Outcome::Failed);
    assert!(line.is_final && !line.retried);
    assert!(
        line.reason
            .starts_with("an operator stopped the trial: Ada; file whole.txt"),
        "{}",
        line.reason
    );
    assert_eq!(line.failed_checks, ["file whole.txt"]);
    assert!(line.work.is_some());
    // What it was waited for is on the account of its environment, though nobody saw its end.
    assert!(line.seconds.environment > line.seconds.agent);

    let told = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(told.contains("Stopped by an operator: 1 trial."), "{told}");

    // The same evidence comes to the same verdict.
    let again = ["--agent", "oracle", "--mode", "validate-only"];
    bench.run(&again).expect(0);
    let again = bench.trials();
    let line = again
        .iter()
        .find(|line| line.is_final && line.task.id() == "slow")
        .unwrap();
    assert!(line.regraded);
    assert_eq!(line.outcome, Outcome::Failed);
    assert_eq!(line.end, Some(TurnEnd::Operator));
    assert_eq!(line.failed_checks, ["file whole.txt"]);
}

#[test]
fn a_trial_whose_agent_says_nothing_is_stopped() {
    let bench = Bench::new();
    bench.suite(&[("a", &waits("true"))]);
    let line = stopped(&bench, &["--agent", "cmd:sleep 400"]);
    assert_eq!(line.outcome, Outcome::Failed);
    assert_eq!(line.failed_checks, ["file half.txt", "file whole.txt"]);
    assert_eq!(line.steps, 0);
}

#[test]
fn a_trial_is_stopped_while_its_model_is_asked_and_that_is_no_fault() {
    let bench = Bench::new();
    bench.suite(&[("a", &waits("true"))]);
    let url = http_service::start(|_| Response::Silence);
    let config = format!("[llm.it]\nmodel = \"openai/m\"\nbase_url = \"{url}/v1\"\n");
    bench.write("config.toml", &config);
    let line = stopped(&bench, &["--agent", "codeact", "--model", "it"]);
    assert_eq!(line.outcome, Outcome::Failed);
    assert_eq!(line.attempt, 1);
    assert!(line.fault.is_none());
}

#[test]
fn a_trial_on_a_desktop_is_stopped_and_its_last_screen_is_graded() {
    let bench = Bench::new();
    let task = json!({
        "task": "Open a terminal.",
        "environment": {
            "kind": "desktop", "screen": "320x240",
            "apps": ["xterm -T Terminal -geometry 40x10+0+0"],
        },
        "limits": { "seconds": 500, "step": 400 },
        "checks": [{ "type": "window", "title": "Terminal" }],
        "solution": [
            { "action": "click", "x": 20, "y": 20 },
            { "action": "wait", "seconds": 300 },
        ],
    });
    bench.suite(&[("a", &task.to_string())]);
    let line = stopped(&bench, &["--agent", "oracle"]);
    // It had done its work.
    assert_eq!(line.outcome, Outcome::Passed, "{}", line.reason);
    let events = bench.reader().events(&line).unwrap();
    let last = |event: &&agon::prelude::Event| match &event.body {
        EventBody::Screen(record) => record.what == ScreenMoment::Final,
        _ => false,
    };
    assert_eq!(events.iter().filter(last).count(), 1);
}

/// A game that nobody wins, in real time.
fn game() -> Value {
    json!({
        "task": "Press keys.",
        "environment": {
            "kind": "desktop", "screen": "320x240",
            "apps": ["xterm -T GAME -geometry 40x10+0+0 -e sh -c 'cat > keys'"],
        },
        "realtime": {
            "window": "GAME", "interval": "100ms",
            "ends": [{ "type": "window", "title": "NEVER" }],
        },
        "limits": { "seconds": 500, "step": 400 },
        "checks": [{ "type": "window", "title": "NEVER" }],
    })
}

#[test]
fn a_play_in_real_time_is_stopped_whoever_plays() {
    for agent in ["one-key:a", "cmd:sleep 400"] {
        let bench = Bench::new();
        bench.suite(&[("a", &game().to_string())]);
        let line = stopped(&bench, &["--agent", agent]);
        assert_eq!(line.outcome, Outcome::Failed);
        let beginning = "an operator stopped the trial: Ada; ";
        assert!(line.reason.starts_with(beginning), "{}", line.reason);
    }
}

#[test]
fn a_runner_is_stopped_and_has_told_nothing() {
    let bench = Bench::new();
    let case = "name: Wait\ntask: Wait.\nsetup_cmd: None\ndesktop_image: registry.test/desktop:1\nchecks:\n  - { type: returned_result, contains: '' }\n";
    bench.suite(&[("a", case)]);
    let line = stopped(&bench, &["--runner", "cmd:sleep 400"]);
    assert_eq!(line.outcome, Outcome::Failed);
    assert!(line.elsewhere && line.fault.is_none());
    assert_eq!(line.failed_checks, ["runner"]);
}

#[test]
fn a_killed_run_leaves_what_was_played_and_the_next_begins_anew() {
    let bench = Bench::new();
    bench.suite(&[("a", &waits("sleep 3"))]);
    let mut ground = Ground::new(&bench);
    let args = ["--agent", "oracle"];
    let mut run = ground.start(&args);
    let before = playing(&bench, 1);
    run.child.kill().unwrap();
    assert_eq!(run.end().0.signal(), Some(9));
    assert!(!folder(&bench).is_written());
    assert_eq!(playing(&bench, 1), before);
    // Nobody is there to hear this, and the next one must not.
    let unheard = Request {
        began: None,
        ..request(&before[0])
    };
    unheard.append(&folder(&bench)).unwrap();

    succeeds(ground.start(&args));
    let line = bench.trial();
    assert_eq!((line.attempt, line.end), (2, Some(TurnEnd::Finished)));
    assert_eq!(line.outcome, Outcome::Passed);
    let after = playing(&bench, 1);
    assert_eq!(after.len(), 1);
    assert!(after[0].began > before[0].began);
}

#[test]
fn who_means_an_attempt_that_was_killed_does_not_stop_the_next() {
    let bench = Bench::new();
    bench.suite(&[("a", &waits("sleep 300"))]);
    let mut ground = Ground::new(&bench);
    let args = ["--agent", "oracle"];
    let mut run = ground.start(&args);
    let before = playing(&bench, 1);
    run.child.kill().unwrap();
    assert_eq!(run.end().0.signal(), Some(9));

    let run = ground.start(&args);
    let begun_anew = |found: &[RunningAttempt]| found.iter().any(|now| now.began > before[0].began);
    let now = playing_until(&bench, begun_anew);
    assert_eq!(now.len(), 1);
    assert_eq!(now[0].attempt, before[0].attempt + 1);
    // The first one who is heard stands in the record.
    let stale = Request {
        by: "Bob".to_owned(),
        ..request(&before[0])
    };
    stale.append(&folder(&bench)).unwrap();
    request(&now[0]).append(&folder(&bench)).unwrap();
    succeeds(run);
    let line = bench.trial();
    assert_eq!((line.attempt, line.end), (2, Some(TurnEnd::Operator)));
    let beginning = "an operator stopped the trial: Ada; ";
    assert!(line.reason.starts_with(beginning), "{}", line.reason);
}

#[test]
fn a_line_that_says_no_time_stops_whatever_is_played() {
    let bench = Bench::new();
    bench.suite(&[("a", &waits("sleep 300"))]);
    let mut ground = Ground::new(&bench);
    let run = ground.start(&["--agent", "oracle"]);
    let attempts = playing(&bench, 1);
    let plain = Request {
        began: None,
        ..request(&attempts[0])
    };
    plain.append(&folder(&bench)).unwrap();
    succeeds(run);
    assert_eq!(bench.trial().end, Some(TurnEnd::Operator));
}
