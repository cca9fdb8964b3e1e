//! Plans: order, keys, and what a resume compares.

use std::collections::HashSet;

use agon_core::{Digest, Seed};
use agon_suite::{AgentIdentity, Facts, Plan, PlanError, PlanOptions, Suite, difference};

use super::fixture::Folder;

fn suite(instruction: &str) -> Suite {
    Folder::of_task(&format!("task: {instruction}\n"))
        .with("demo/two.yaml", "task: x\nlevel: gold\n")
        .with("suite.toml", "name = 'demo'\n")
        .suite()
}

fn options(agent: &str, seed: u64) -> PlanOptions {
    PlanOptions {
        epochs: 2,
        seed: Seed(seed),
        agent: AgentIdentity {
            spec: agent.to_owned(),
            digest: None,
        },
        checkers: "checks 1".to_owned(),
    }
}

fn facts(instruction: &str, options: PlanOptions) -> Facts {
    let mut suite = suite(instruction);
    let tasks = std::mem::take(&mut suite.tasks);
    Plan::new(tasks, options).unwrap().facts([&suite])
}

#[test]
fn every_task_is_tried_before_any_is_tried_again() {
    let plan = Plan::new(suite("x").tasks, options("noop", 1)).unwrap();
    let trials: Vec<_> = plan.trials().map(|trial| trial.id().to_string()).collect();
    assert_eq!(
        trials,
        ["demo/two#1", "demo/one#1", "demo/two#2", "demo/one#2"]
    );
    assert_eq!(plan.len(), 4);
    let seeds: HashSet<_> = plan.trials().map(|trial| trial.seed).collect();
    assert_eq!(seeds.len(), 4);
}

#[test]
fn keys_follow_task_agent_and_checkers_but_not_the_seed() {
    let key = |instruction: &str, options: PlanOptions| {
        let plan = Plan::new(suite(instruction).tasks, options).unwrap();
        plan.key(&plan.tasks()[1])
    };
    let base = key("x", options("noop", 1));
    assert_eq!(base, key("x", options("noop", 2)));
    assert_ne!(base, key("y", options("noop", 1)));
    assert_ne!(base, key("x", options("oracle", 1)));
    let newer = PlanOptions {
        checkers: "checks 2".to_owned(),
        ..options("noop", 1)
    };
    assert_ne!(base, key("x", newer));
    let mut edited = options("noop", 1);
    edited.agent.digest = Some(Digest::of(b"x"));
    assert_ne!(base, key("x", edited));
}

#[test]
fn the_same_plan_has_no_difference() {
    let (old, new) = (
        facts("x", options("noop", 1)),
        facts("x", options("noop", 1)),
    );
    assert_eq!(old, new);
    assert!(difference(&old, &new).is_empty());
}

#[test]
fn differences_are_readable() {
    let old = facts("x", options("noop", 1));
    let new = facts("x", options("oracle", 2));
    assert_eq!(
        difference(&old, &new),
        ["agent: noop -> oracle", "seed: 1 -> 2"]
    );

    let new = facts("y", options("noop", 1));
    let lines = difference(&old, &new);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("suite demo: digest "), "{lines:?}");
    assert!(lines[1].starts_with("task demo/one: key "), "{lines:?}");

    let mut fewer = old.clone();
    fewer.epochs = 3;
    fewer.tasks.remove(0);
    assert_eq!(
        difference(&old, &fewer),
        ["epochs: 2 -> 3", "task demo/two: no longer selected"]
    );
}

#[test]
fn what_is_no_plan() {
    let twice = suite("x").tasks.into_iter().chain(suite("x").tasks);
    assert!(matches!(
        Plan::new(twice, options("noop", 1)),
        Err(PlanError::Twice(_))
    ));
    let none = PlanOptions {
        epochs: 0,
        ..options("noop", 1)
    };
    assert_eq!(
        Plan::new(suite("x").tasks, none).unwrap_err(),
        PlanError::NoEpochs
    );
}
