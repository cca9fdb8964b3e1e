//! Hexagon Run, the game that comes with Agon, played in real time through the binary. The game stands
//! beside `agon`: `cargo xtask test` builds it.

use std::fs;

use agon::core::EventBody;
use agon::core::realtime::Reaction;
use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::{Value, json};

use crate::support::Bench;

#[test]
fn heavy_a_task_of_the_arena_suite_holds() {
    holds("arena/hexagon/start-the-game.yaml");
}

#[test]
fn heavy_long_form_the_arena_suite_holds() {
    holds("arena");
}

/// Every solution passes, doing nothing passes none.
fn holds(part: &str) {
    let bench = Bench::new();
    let suite = format!("{}/../../suites/{part}", env!("CARGO_MANIFEST_DIR"));
    let linted = bench.call(&["lint", &suite, "--workers", "1"]).expect(0);
    assert!(
        linted.stderr().contains("0 errors, 0 warnings"),
        "{}",
        linted.stderr()
    );
}

/// Two kinds of player on the same seed; what is recorded of a play is there.
#[test]
fn heavy_a_game_is_played_judged_and_recorded() {
    let bench = Bench::new();
    let task = r#"
task: Stay alive.
environment:
  kind: desktop
  screen: 480x360
  programs: [hexagon]
  apps: ["hexagon --seed 3 --score-file score.jsonl"]
limits: { seconds: 60 }
realtime:
  window: Hexagon Run
  begin: space
  interval: 0.25
  ends: [{ type: screen_text, region: [0, 300, 480, 60], contains: PRESS SPACE TO RETRY }]
checks:
  - { type: file, path: score.jsonl, contains: wall }
  - { type: screen_text, number: { after: LAST, form: seconds_hundredths, at_least: 0.5, within_play: true } }
"#;
    bench.suite(&[("game", task)]);
    bench.run(&["--agent", "one-key"]).expect(0);
    let trial = bench.trial();
    assert_eq!(
        (trial.outcome, trial.end),
        (Outcome::Passed, Some(TurnEnd::WorldEnded))
    );
    let events = bench.reader().events(&trial).unwrap();
    let (mut looks, mut plays, mut keys) = (0, 0, 0);
    let mut told = (0, 0);
    for event in &events {
        match &event.body {
            EventBody::Look(look) => {
                looks += 1;
                assert!(bench.reader().picture(&look.picture).is_ok());
            }
            EventBody::Play(stats) => {
                plays += 1;
                assert!(
                    stats.actions > 0 && stats.world >= stats.played,
                    "{stats:?}"
                );
                // All of it was told while it was played.
                assert_eq!(told, (stats.steps, stats.actions));
                // The score on the screen is what the game wrote down.
                assert!(trial.measured.unwrap() <= stats.world + 1.0);
            }
            EventBody::Input(input) => keys += input.len(),
            EventBody::Reacted(reacted) => told = (reacted.steps, reacted.actions),
            _ => {}
        }
    }
    assert!(
        looks >= 2 && plays == 1 && keys > 0,
        "{looks} {plays} {keys}"
    );
}

/// One that looks: when it answered which frame is on record, and agrees with what was measured as a whole.
#[test]
fn heavy_answers_to_frames_are_on_record() {
    let bench = Bench::new();
    let task = r#"
task: Stay alive.
environment: { kind: desktop, screen: 480x360, programs: [hexagon], apps: ["hexagon --seed 7"] }
limits: { seconds: 4 }
realtime: { window: Hexagon Run, begin: space }
checks: [{ type: process, app: hexagon, alive: true }]
"#;
    bench.suite(&[("game", task)]);
    bench.run(&["--agent", "hexagon"]).expect(0);
    let trial = bench.trial();
    assert_eq!(trial.end, Some(TurnEnd::TimeLimit));
    let (mut answers, mut stats) = (Vec::new(), None);
    for event in bench.reader().events(&trial).unwrap() {
        match event.body {
            EventBody::Reacted(reacted) => {
                // When it happened, not when it was told.
                let in_time = |answer: &Reaction| answer.t > 0.0 && answer.t <= event.t;
                assert!(reacted.answers.iter().all(in_time), "{reacted:?}");
                answers.extend(reacted.answers);
            }
            EventBody::Play(play) => stats = Some(play),
            _ => {}
        }
    }
    assert!(answers.len() > 1 && answers.is_sorted_by_key(|answer| answer.t));
    let longest = answers
        .iter()
        .map(|answer| answer.latency)
        .fold(0.0, f64::max);
    let measured = stats.unwrap().latency.unwrap().max;
    assert!((longest - measured).abs() < 1e-4, "{longest} {measured}");
}

/// What the evaluator reads off the screen is what the game wrote down, to the hundredth.
#[test]
fn heavy_scores_on_the_screen_are_the_true_ones() {
    scores_are_true(2);
}

#[test]
fn heavy_long_form_scores_of_many_games_are_the_true_ones() {
    scores_are_true(8);
}

fn scores_are_true(games: usize) {
    let bench = Bench::new();
    let mut tasks = String::new();
    for seed in 1..=games {
        let truth = bench.path(&format!("truth-{seed}"));
        let task = json!({
            "task_id": seed.to_string(), "env_name": "hexagon", "window_name": "Hexagon Run",
            "task_description": "Stay alive.", "timeout": 100, "check_env_interval_seconds": 0.25,
            "success_criteria": { "time_survived": 1 }, "screen": "480x360",
            "apps": [format!("hexagon --seed {seed} --score-file {}", truth.display())],
        });
        tasks += &format!("{task}\n");
    }
    bench.write("tasks.jsonl", &tasks);
    let played = bench.call(&[
        "arena",
        "run",
        "tasks.jsonl",
        "--agent",
        "random-keys",
        "--evaluator",
        "hexagon",
        "--json",
        "--parallel",
        "--workers",
        "2",
        "--report",
        "report.jsonl",
    ]);
    let results: Vec<Value> = (played.expect(0).stdout().lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(results.len(), games);
    for result in results {
        let id = result["task_id"].as_str().unwrap();
        let truth = fs::read_to_string(bench.path(&format!("truth-{id}"))).unwrap();
        let truth: Value = serde_json::from_str(truth.lines().next_back().unwrap()).unwrap();
        assert_eq!(
            result["metrics"]["score"], truth["score"],
            "{result} {truth}"
        );
    }
    let report = fs::read_to_string(bench.path("report.jsonl")).unwrap();
    assert_eq!(report.lines().count(), games);
}
