//! A small part of the simulation in `examples/simulate_intervals`, with fixed seeds: enough to see an interval
//! that does not hold what it says.

#[path = "../examples/simulate_intervals/world.rs"]
mod world;

use agon_stats::{over_differences, over_tasks};
use world::{Ask, Kind, Play, Scene};

const ROUNDS: u32 = 200;

/// The share of rounds in which the truth was held.
fn coverage(scene: Scene) -> f64 {
    let mut play = Play::new(scene, 20);
    let held = (0..ROUNDS).filter(|_| {
        let seen = play.round();
        let found = if seen.pairs.is_empty() {
            over_tasks(&seen.clusters)
        } else {
            over_differences(&seen.pairs)
        };
        found.is_some_and(|found| found.low <= seen.truth && seen.truth <= found.high)
    });
    held.count() as f64 / f64::from(ROUNDS)
}

fn scenes(tasks: usize) -> impl Iterator<Item = Scene> {
    let chosen = |scene: &Scene| {
        matches!(
            (scene.kind, scene.attempts),
            (Kind::YesNo, 1 | 3) | (Kind::Any, 1)
        ) && matches!(
            scene.ask,
            Ask::Mean | Ask::Weighted | Ask::DifferenceOfBetter
        )
    };
    Scene::all(tasks).into_iter().filter(chosen)
}

/// The bootstrap over tasks held 73 % with 3 tasks and 91 % with 10.
#[test]
fn intervals_hold_the_truth_from_two_tasks_on() {
    for tasks in [2, 3, 4, 5, 10] {
        for scene in scenes(tasks) {
            // 93.5 %, and two standard errors less: there are few rounds.
            let found = coverage(scene);
            assert!(found > 0.9, "{tasks} tasks, {scene}: {found}");
        }
    }
}

#[test]
fn intervals_are_not_wider_than_they_must_be() {
    let found: Vec<f64> = scenes(40).map(coverage).collect();
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    assert!((0.945..0.97).contains(&mean), "{mean}: {found:?}");
}
