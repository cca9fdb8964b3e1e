//! The figures of a comparison.

use std::cmp::Reverse;
use std::collections::HashSet;

use agon_core::TaskId;
use agon_stats::{mcnemar_exact, over_differences};

use super::caveats::caveats;
use super::contender::Contender;
use super::shape::{ComparedCell, ComparedRun, ComparedTask, Comparison, PairedRun};
use super::words::{sign, words};
use crate::confidence::{Interval, Method};

impl Comparison {
    /// The first one is what the others are compared with.
    pub fn of(runs: &[Contender<'_>]) -> Self {
        let mut tasks = tasks(runs);
        let common = tasks.iter().filter(|task| is_common(task)).count() as u64;
        let mut pairs: Vec<PairedRun> = (1..runs.len()).map(|at| pair(runs, &tasks, at)).collect();
        for (at, pair) in pairs.iter_mut().enumerate() {
            pair.words = words(pair, &sign(0), &sign(at + 1));
        }
        let compared = runs
            .iter()
            .enumerate()
            .map(|(at, run)| compared_run(run, at, &tasks));
        let compared = compared.collect();
        let caveats = caveats(runs, &tasks, common);
        // Millionths are more than any table shows, and whole numbers can be ordered.
        tasks.sort_by_cached_key(|task| Reverse((gap(task) * 1e6).round() as i64));
        Self {
            runs: compared,
            common,
            pairs,
            tasks,
            caveats,
        }
    }
}

/// In the order of the plans, each once.
fn tasks(runs: &[Contender<'_>]) -> Vec<ComparedTask> {
    let mut seen: HashSet<&TaskId> = HashSet::new();
    let stamps = runs.iter().flat_map(|run| &run.manifest.tasks);
    stamps
        .filter(|stamp| seen.insert(&stamp.task))
        .map(|stamp| {
            let task = stamp.task.to_string();
            ComparedTask {
                cells: runs.iter().map(|run| run.cell(&task)).collect(),
                name: stamp.name.clone(),
                level: stamp.level.map(|level| level.name().to_owned()),
                task,
            }
        })
        .collect()
}

fn graded(cell: Option<&ComparedCell>) -> Option<(&ComparedCell, f64)> {
    let cell = cell?;
    Some((cell, cell.score?))
}

/// Every run has a graded trial of it.
fn is_common(task: &ComparedTask) -> bool {
    task.cells
        .iter()
        .all(|cell| graded(cell.as_ref()).is_some())
}

/// How far the run that is farthest from the first one is from it. Less than 0 where nothing can be said.
fn gap(task: &ComparedTask) -> f64 {
    let score = |cell: &Option<ComparedCell>| cell.as_ref().and_then(|cell| cell.score);
    let Some(first) = task.cells.first().and_then(score) else {
        return -1.0;
    };
    let others = task.cells.iter().skip(1).filter_map(score);
    others
        .map(|other| (other - first).abs())
        .fold(-1.0, f64::max)
}

fn compared_run(run: &Contender<'_>, at: usize, tasks: &[ComparedTask]) -> ComparedRun {
    let own = || tasks.iter().filter_map(move |task| task.cells[at].as_ref());
    let common: Vec<&ComparedCell> = tasks
        .iter()
        .filter(|task| is_common(task))
        .filter_map(|task| task.cells[at].as_ref())
        .collect();
    let mean = |of: fn(&ComparedCell) -> Option<f64>| -> Option<f64> {
        let known: Vec<f64> = common.iter().filter_map(|cell| of(cell)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / common.len() as f64)
    };
    let manifest = run.manifest;
    ComparedRun {
        id: run.id.clone(),
        sign: sign(at),
        suites: manifest
            .suites
            .iter()
            .map(|suite| suite.name.clone())
            .collect(),
        agent: manifest.agent.spec.clone(),
        models: manifest
            .models
            .iter()
            .map(|model| model.name.clone())
            .collect(),
        judge: manifest
            .judge
            .as_ref()
            .map(|judge| judge.model.name.clone()),
        epochs: manifest.epochs,
        tasks: manifest.tasks.len() as u64,
        graded: own().filter(|cell| cell.graded > 0).count() as u64,
        faulted: own().map(|cell| u64::from(cell.faulted)).sum(),
        score: mean(|cell| cell.score),
        money: mean(|cell| cell.money),
        unpriced: common.iter().any(|cell| cell.unpriced),
        seconds: mean(|cell| cell.seconds),
        steps: mean(|cell| cell.steps),
    }
}

fn pair(runs: &[Contender<'_>], tasks: &[ComparedTask], at: usize) -> PairedRun {
    let mut pair = PairedRun {
        run: runs[at].id.clone(),
        tasks: 0,
        gained: 0,
        lost: 0,
        both: 0,
        neither: 0,
        p_value: None,
        difference: None,
        difference_ci: None,
        words: String::new(),
    };
    let mut scores: Vec<(f64, f64)> = Vec::new();
    for task in tasks {
        let (Some((first, before)), Some((other, after))) = (
            graded(task.cells[0].as_ref()),
            graded(task.cells[at].as_ref()),
        ) else {
            continue;
        };
        scores.push((before, after));
        let count = match (first.solved(), other.solved()) {
            (Some(true), Some(true)) => &mut pair.both,
            (Some(true), _) => &mut pair.lost,
            (_, Some(true)) => &mut pair.gained,
            _ => &mut pair.neither,
        };
        *count += 1;
    }
    pair.tasks = scores.len() as u64;
    pair.p_value = mcnemar_exact(pair.gained, pair.lost);
    if !scores.is_empty() {
        let sum: f64 = scores.iter().map(|(before, after)| after - before).sum();
        let difference = sum / scores.len() as f64;
        pair.difference = Some(difference);
        pair.difference_ci =
            over_differences(&scores).map(|found| Interval::new(found, Method::EffectiveTasks));
    }
    pair
}
