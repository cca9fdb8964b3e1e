//! What a reader must know before believing a comparison: where the runs were not given the same.

use super::contender::Contender;
use super::shape::ComparedTask;
use super::words::sign;
use crate::text::count;

pub(super) fn caveats(runs: &[Contender<'_>], tasks: &[ComparedTask], common: u64) -> Vec<String> {
    let mut said = Vec::new();
    let all = tasks.len() as u64;
    if common < all {
        said.push(format!(
            "Graded in every run: {} of {} tasks. Means speak of those; each pair speaks of the tasks that both have graded.",
            count(common),
            count(all)
        ));
    }
    for (at, run) in runs.iter().enumerate().skip(1) {
        let other = tasks
            .iter()
            .filter(|task| is_another(&runs[0], run, &task.task));
        let other = other.count() as u64;
        if other > 0 {
            said.push(format!(
                "Not the same in {} as in {}, by instruction, environment, limits or files: {} of the tasks.",
                sign(at),
                sign(0),
                count(other)
            ));
        }
    }
    let differing = [
        (
            "Epochs differ",
            by_run(runs, |run| run.manifest.epochs.to_string()),
            "",
        ),
        (
            "Seeds differ",
            by_run(runs, |run| run.manifest.seed.to_string()),
            ": what tasks draw at random was not the same",
        ),
        (
            "Graded by other versions of the checks",
            by_run(runs, |run| run.manifest.checkers.clone()),
            "",
        ),
        (
            "Prose was judged by others",
            by_run(runs, |run| {
                let judge = run.manifest.judge.as_ref();
                judge.map_or_else(|| "none".to_owned(), |judge| judge.model.name.clone())
            }),
            "",
        ),
        (
            "Played on other machines",
            by_run(runs, |run| {
                let host = &run.manifest.host;
                format!(
                    "{}, {} processors, {} MiB",
                    host.os, host.cpus, host.memory_mib
                )
            }),
            ": do not compare seconds",
        ),
    ];
    for (what, which, then) in differing {
        said.extend(which.map(|which| format!("{what} ({which}){then}.")));
    }
    if runs.len() > 2 {
        said.push(format!(
            "Each p-value is of one run against {} alone: among {} runs, some are small by chance.",
            sign(0),
            count(runs.len() as u64)
        ));
    }
    said
}

/// Both have a task of that name, but agents are not given the same.
fn is_another(first: &Contender<'_>, other: &Contender<'_>, task: &str) -> bool {
    let played = |run: &Contender<'_>| Some(run.manifest.tasks[run.place(task)?].played);
    matches!((played(first), played(other)), (Some(a), Some(b)) if a != b)
}

/// `A 1, B 3`, where they are not all the same.
fn by_run(runs: &[Contender<'_>], of: impl Fn(&Contender<'_>) -> String) -> Option<String> {
    let values: Vec<String> = runs.iter().map(of).collect();
    if values.iter().all(|value| Some(value) == values.first()) {
        return None;
    }
    let named = values.iter().enumerate();
    let named: Vec<String> = named
        .map(|(at, value)| format!("{} {value}", sign(at)))
        .collect();
    Some(named.join("; "))
}
