//! What a run that is gone on with has spent already.

use std::sync::Arc;

use agon_core::{EventBody, ModelCall, Purpose, Seed, Source, SystemClock, Usage};
use agon_engine::{Asked, Mode, select};
use agon_store::{Recorder, RunFolder, RunWriter};
use agon_suite::{AgentIdentity, Plan, PlanOptions};

use crate::fixture::task;

#[test]
fn a_trial_that_was_killed_has_spent_what_it_wrote_down() {
    let root = tempfile::tempdir().unwrap();
    let writer = RunWriter::open(&RunFolder::at(root.path())).unwrap();
    let options = PlanOptions {
        epochs: 2,
        seed: Seed(1),
        agent: AgentIdentity {
            spec: "noop".to_owned(),
            digest: None,
        },
        checkers: String::new(),
    };
    let plan = Plan::new(vec![task()], options).unwrap();
    let spent = || {
        let asked = Asked {
            mode: Mode::RunAll,
            judge: false,
        };
        let selected = select(&writer, &plan, asked).unwrap();
        selected.lost().clone()
    };
    assert_eq!(spent(), Usage::default());
    let usage = Usage {
        input_tokens: 70,
        calls: 1,
        ..Usage::default()
    };
    let clock = Arc::new(SystemClock::default());
    let mut recorder = Recorder::new(&writer, clock, &task().id, 2, 1);
    let call = EventBody::Model(ModelCall {
        model: "m".to_owned(),
        purpose: Purpose::Gateway,
        seconds: 1.0,
        tries: 1,
        taped: false,
        usage: usage.clone(),
        request: None,
        response: None,
        fault: None,
        why: None,
    });
    recorder.record(Source::Agent, None, call).unwrap();
    // More than is kept in memory.
    let long = EventBody::Note("x".repeat(64 << 10));
    recorder.record(Source::Harness, None, long).unwrap();
    drop(recorder);
    assert_eq!(spent(), usage);
}
