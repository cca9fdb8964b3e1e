//! How often the 95 % intervals of this crate hold the truth: agents whose true scores are known play tasks of
//! known difficulty, thousands of times. `cargo xtask bench intervals` runs it and judges; with the word
//! `methods` it shows what was rejected, for `docs/statistics.md`. The same seeds give the same figures.

#[path = "../../../desktop/examples/measure/figure.rs"]
mod figure;
mod methods;
mod world;

use std::collections::BTreeMap;
use std::process::ExitCode;

use agon_stats::over_tasks;
use figure::{Failed, Figure};
use methods::Method;
use world::{Ask, Kind, Play, SHAPES, Scene};

/// Rounds per scene: with these a share of 95 % is known to about 0.3 % (one standard error).
const ROUNDS: u32 = 5_000;
const SMALL: [usize; 6] = [2, 3, 4, 5, 6, 8];
const LARGE: [usize; 5] = [10, 20, 40, 80, 160];

fn main() -> ExitCode {
    let word = std::env::args().nth(1).unwrap_or_default();
    if word == "methods" {
        return methods::table();
    }
    figure::tell(measure())
}

fn measure() -> Result<Vec<Figure>, Failed> {
    let mut least: BTreeMap<usize, Coverage> = BTreeMap::new();
    let mut means: BTreeMap<usize, f64> = BTreeMap::new();
    for tasks in SMALL.into_iter().chain(LARGE) {
        let found = all_scenes(tasks, ROUNDS, Method::Ours);
        means.insert(tasks, mean(&found));
        least.extend(lowest(found).map(|lowest| (tasks, lowest)));
    }
    let of = |name: &'static str, tasks: usize| -> Result<Figure, Failed> {
        let (Some(least), Some(mean)) = (least.get(&tasks), means.get(&tasks)) else {
            return Err("a size is missing".into());
        };
        Ok(Figure::new(name, least.share, None)
            .noting(format!("least of all scenes: {}", least.scene))
            .noting(format!("mean of all scenes: {mean:.4}")))
    };
    let sizes: Vec<String> = least
        .iter()
        .map(|(tasks, least)| format!("{tasks} tasks: {:.4}, {}", least.share, least.scene))
        .collect();
    let all = lowest(least.values().cloned().collect()).ok_or("there is no scene")?;
    let large: f64 = LARGE.iter().filter_map(|tasks| means.get(tasks)).sum();
    let mut least_of_all = Figure::new("coverage_from_2", all.share, None);
    for size in sizes {
        least_of_all = least_of_all.noting(size);
    }
    Ok(vec![
        of("coverage_2", 2)?,
        of("coverage_3", 3)?,
        of("coverage_10", 10)?,
        least_of_all,
        Figure::new("mean_coverage_from_10", large / LARGE.len() as f64, None)
            .noting(format!("by size: {means:.4?}")),
        width_ratio(10),
    ])
}

/// How often the truth was held in one scene.
#[derive(Debug, Clone)]
struct Coverage {
    scene: String,
    share: f64,
}

fn mean(found: &[Coverage]) -> f64 {
    found.iter().map(|scene| scene.share).sum::<f64>() / found.len() as f64
}

fn lowest(found: Vec<Coverage>) -> Option<Coverage> {
    found
        .into_iter()
        .min_by(|one, other| one.share.total_cmp(&other.share))
}

fn all_scenes(tasks: usize, rounds: u32, method: Method) -> Vec<Coverage> {
    let cover = |(nth, scene): (u64, Scene)| {
        let mut play = Play::new(scene, 1_000 * tasks as u64 + nth);
        let held = (0..rounds).filter(|_| method.holds(&play.round()));
        Coverage {
            share: held.count() as f64 / f64::from(rounds),
            scene: scene.to_string(),
        }
    };
    let scenes: Vec<(u64, Scene)> = (0..).zip(Scene::all(tasks)).collect();
    let (some, others) = scenes.split_at(scenes.len() / 2);
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| others.iter().copied().map(cover).collect::<Vec<_>>());
        let mut found: Vec<Coverage> = some.iter().copied().map(cover).collect();
        found.extend(beside.join().unwrap_or_default());
        found
    })
}

/// The mean width of an interval of yes/no scores, one attempt per task, against that of Clopper and
/// Pearson; and the widest against it.
fn width_ratio(tasks: usize) -> Figure {
    let (mut ours, mut exact, mut most) = (0.0, 0.0, 0.0f64);
    for shape in SHAPES {
        let scene = Scene {
            shape,
            tasks,
            attempts: 1,
            kind: Kind::YesNo,
            ask: Ask::Mean,
        };
        let mut play = Play::new(scene, 1);
        for _ in 0..ROUNDS / 10 {
            let seen = play.round();
            let (Some(one), Some(other)) = (
                over_tasks(&seen.clusters),
                methods::clopper_pearson(&seen.clusters),
            ) else {
                continue;
            };
            ours += one.high - one.low;
            exact += other.high - other.low;
            most = most.max((one.high - one.low) / (other.high - other.low));
        }
    }
    Figure::new("width_ratio_10", ours / exact, None)
        .noting(format!("the widest is {most:.4} times as wide"))
}
