//! States from records: how each end reads.

use agon_core::verdict::TurnEnd;
use agon_core::{Fault, FaultClass, Money};

use super::*;
use crate::dialect::tests::{conversation, recorded};
use crate::metrics::ModelNames;

fn ended(end: Option<TurnEnd>, fault: Option<&Fault>, note: Option<&str>) -> State {
    let events = conversation();
    let bounds = Bounds {
        max_iterations: 10,
        max_budget: Some(Money::from_micros(4_500)),
    };
    State::of(
        &recorded(&events),
        "session",
        bounds,
        Ending { end, fault, note },
    )
}

#[test]
fn a_finished_conversation_holds_everything() {
    let events = conversation();
    let ending = Ending::of(&events);
    assert_eq!(ending.end, Some(TurnEnd::Finished));
    let state = ended(ending.end, None, None);
    assert_eq!(state.agent_state, AgentState::Finished);
    assert_eq!(state.last_error, "");
    assert_eq!((state.iteration, state.max_iterations), (4, 10));
    assert_eq!(state.local_iteration, state.iteration_flag.current_value);
    assert_eq!(state.local_metrics, state.metrics);
    let fields = serde_json::to_value(&state).unwrap();
    for key in ["iteration", "local_iteration", "max_iterations"] {
        assert!(fields[key].is_u64(), "{key}");
    }
    assert_eq!(fields["traffic_control_state"], "throttling");
    assert_eq!(fields["delegates"], serde_json::json!({}));
    assert!(!state.iteration_flag.hit_limit);
    assert!(state.budget_flag.as_ref().unwrap().hit_limit);
    assert_eq!(state.get_last_agent_message(), Some("Done?"));
    assert_eq!(state.get_last_user_message(), Some("Go on."));
    assert_eq!(state.answer(), Some("hello"));
    assert_eq!(state.user_messages(), 2);
    assert_eq!(state.outputs["content"], "hello");
    let usage = &state.metrics.accumulated_token_usage;
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (300, 21));
    assert_eq!((usage.cache_read_tokens, usage.per_turn_token), (180, 107));
    assert_eq!(usage.model, "eval_gpt4");
    assert!((state.metrics.accumulated_cost - 0.0045).abs() < 1e-9);
    assert_eq!(state.metrics.costs.len(), 3);
    assert_eq!(state.metrics.response_latencies[1].response_id, "r2");
    let text = serde_json::to_string(&state).unwrap();
    let mut back: State = serde_json::from_str(&text).unwrap();
    // Not part of the shape.
    back.end = state.end;
    assert_eq!(back, state);
}

#[test]
fn every_end_has_its_state_and_its_words() {
    let text = |end, note| {
        let state = ended(Some(end), None, note);
        (state.agent_state, state.last_error)
    };
    let (state, error) = text(TurnEnd::Stuck, Some("the agent is stuck: monologue"));
    assert_eq!(state, AgentState::Error);
    assert_eq!(
        error,
        "AgentStuckInLoopError: the agent is stuck: monologue"
    );
    let (state, error) = text(TurnEnd::StepLimit, None);
    assert_eq!(state, AgentState::Error);
    assert!(error.starts_with("RuntimeError: "), "{error}");
    assert_eq!(
        text(TurnEnd::Rejected, None),
        (AgentState::Rejected, String::new())
    );
    assert_eq!(text(TurnEnd::Operator, None).0, AgentState::Stopped);
    assert_eq!(ended(None, None, None).agent_state, AgentState::Running);
}

#[test]
fn faults_have_the_names_that_programs_look_for() {
    for (class, name) in [
        (FaultClass::Environment, "AgentRuntimeDisconnectedError"),
        (FaultClass::Start, "AgentRuntimeUnavailableError"),
        (FaultClass::Model, "ServiceUnavailableError"),
    ] {
        let fault = Fault::new(class, "gone");
        let state = ended(None, Some(&fault), None);
        assert_eq!(state.agent_state, AgentState::Error);
        assert_eq!(state.last_error, format!("{name}: gone"));
        assert_eq!(state.fault, Some(fault));
    }
}

#[test]
fn in_the_middle_it_waits_for_the_user() {
    let events = conversation();
    let state = State::so_far(&events[..12], "", &ModelNames::default(), Bounds::default());
    assert_eq!(state.agent_state, AgentState::AwaitingUserInput);
    assert_eq!(state.get_last_agent_message(), Some("Done?"));
    assert_eq!(
        State::so_far(&[], "", &ModelNames::default(), Bounds::default()).agent_state,
        AgentState::Loading
    );
}

#[test]
fn a_trajectory_goes_to_a_file_or_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let state = ended(Some(TurnEnd::Finished), None, None);
    let file = folder.path().join("deep").join("t.json");
    state.save_trajectory(&file).unwrap();
    state.save_trajectory(folder.path()).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        std::fs::read_to_string(folder.path().join("session.json")).unwrap()
    );
    assert_eq!(crate::events::read_trajectory(&text).unwrap().1.len(), 3);
}

/// What was done before a session was gone on with counts for what it cost, and for nothing else.
#[test]
fn a_turn_is_what_follows_the_last_task() {
    use agon_core::{Event, EventBody, Source};
    let mut events = conversation();
    let last = events.last().unwrap().clone();
    let first = Event {
        body: EventBody::Instruction("Say hello.".to_owned()),
        source: Source::User,
        ..events[0].clone()
    };
    events.insert(0, first);
    let bounds = Bounds {
        max_iterations: 2,
        max_budget: None,
    };
    let of = |events: &[Event]| State::of(&recorded(events), "", bounds, Ending::default());
    let before = of(&events);
    assert_eq!((before.iteration, before.start_id), (4, 0));
    let more = [
        EventBody::Instruction("Once more.".to_owned()),
        EventBody::Action(agon_core::Action::run("true")),
    ];
    events.extend((1..).zip(more).map(|(n, body)| Event {
        seq: last.seq + n,
        body,
        ..last.clone()
    }));
    let after = of(&events);
    assert_eq!(after.iteration_flag.current_value, 1);
    assert_eq!(after.start_id, before.history.len() as i64);
    assert_eq!(after.get_last_user_message(), Some("Once more."));
    assert_eq!((after.answer(), after.outputs.len()), (None, 0));
    assert_eq!(after.metrics, before.metrics);
}

#[test]
fn a_trajectory_takes_the_place_of_the_old_one_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("t.json"), folder.path().join("link"));
    std::fs::write(&path, "old").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let kept = std::fs::File::open(&path).unwrap();
    let state = ended(None, None, None);
    state.save_trajectory(&path).unwrap();
    assert_eq!(std::io::read_to_string(kept).unwrap(), "old");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with('['));
    std::fs::write(&path, "").unwrap();
    state.save_trajectory(&link).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with('['));
    let names = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 2, "nothing else is left");
}
