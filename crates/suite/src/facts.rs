//! What a run rests on, as plain facts: they go into the manifest, and a resume compares them. Two
//! runs with different facts have numbers that can't be put together.

use std::collections::BTreeMap;

use agon_core::{Digest, TaskId};

use crate::plan::AgentIdentity;

/// So many tasks are named in a difference; the others are counted.
const NAMED_TASKS: usize = 5;

#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub suites: Vec<SuiteFacts>,
    pub agent: AgentIdentity,
    pub seed: u64,
    pub epochs: u32,
    pub checkers: String,
    pub tasks: Vec<TaskFacts>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SuiteFacts {
    pub name: String,
    pub digest: Digest,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskFacts {
    pub task: TaskId,
    pub steps: u32,
    /// The resume key.
    pub key: Digest,
}

/// What changed from an `old` run to a `new` one, a line each; empty: nothing.
pub fn difference(old: &Facts, new: &Facts) -> Vec<String> {
    let mut lines = Vec::new();
    suites(old, new, &mut lines);
    if old.agent.spec != new.agent.spec {
        lines.push(format!("agent: {} -> {}", old.agent.spec, new.agent.spec));
    } else if old.agent.digest != new.agent.digest {
        let short = |digest: Option<Digest>| digest.map_or("none".to_owned(), |d| d.short());
        lines.push(format!(
            "agent {}: digest {} -> {}",
            new.agent.spec,
            short(old.agent.digest),
            short(new.agent.digest)
        ));
    }
    if old.seed != new.seed {
        lines.push(format!("seed: {} -> {}", old.seed, new.seed));
    }
    if old.epochs != new.epochs {
        lines.push(format!("epochs: {} -> {}", old.epochs, new.epochs));
    }
    if old.checkers != new.checkers {
        lines.push(format!("checkers: {} -> {}", old.checkers, new.checkers));
    }
    tasks(old, new, &mut lines);
    lines
}

fn suites(old: &Facts, new: &Facts, lines: &mut Vec<String>) {
    let by_name = |facts: &Facts| -> BTreeMap<String, Digest> {
        let pairs = facts.suites.iter().map(|s| (s.name.clone(), s.digest));
        pairs.collect()
    };
    let (before, after) = (by_name(old), by_name(new));
    for (name, digest) in &before {
        match after.get(name) {
            None => lines.push(format!("suite {name}: no longer there")),
            Some(now) if now != digest => lines.push(format!(
                "suite {name}: digest {} -> {}",
                digest.short(),
                now.short()
            )),
            Some(_) => {}
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        lines.push(format!("suite {name}: new"));
    }
}

fn tasks(old: &Facts, new: &Facts, lines: &mut Vec<String>) {
    fn by_id(facts: &Facts) -> BTreeMap<&TaskId, &TaskFacts> {
        facts.tasks.iter().map(|task| (&task.task, task)).collect()
    }
    let (before, after) = (by_id(old), by_id(new));
    // An agent or checkers that changed have changed every key: that was said already.
    let same_player = old.agent == new.agent && old.checkers == new.checkers;
    let mut changes = Vec::new();
    for (id, was) in &before {
        match after.get(id) {
            None => changes.push(format!("task {id}: no longer selected")),
            Some(now) if now.steps != was.steps => {
                changes.push(format!("task {id}: steps {} -> {}", was.steps, now.steps));
            }
            Some(now) if now.key != was.key && same_player => changes.push(format!(
                "task {id}: key {} -> {}",
                was.key.short(),
                now.key.short()
            )),
            Some(_) => {}
        }
    }
    for id in after.keys().filter(|id| !before.contains_key(*id)) {
        changes.push(format!("task {id}: new"));
    }
    let more = changes.len().saturating_sub(NAMED_TASKS);
    changes.truncate(NAMED_TASKS);
    lines.extend(changes);
    if more > 0 {
        lines.push(format!("and {more} more tasks"));
    }
}
