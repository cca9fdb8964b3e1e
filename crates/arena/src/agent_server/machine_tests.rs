//! The machine under any order of calls.

use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::result::StopReason;

fn task(id: u64) -> Task {
    Task {
        task_id: id.to_string(),
        env_name: "e".to_owned(),
        window_name: "w".to_owned(),
        task_description: "d".to_owned(),
        timeout: 1,
        check_env_interval_seconds: 1.0,
        success_criteria: Map::new(),
        num_frames: 3,
    }
}

fn url() -> PeerUrl {
    PeerUrl::parse("http://127.0.0.1:1").unwrap()
}

fn end(reason: Option<StopReason>) -> AgentFinished {
    AgentFinished {
        reason,
        ..AgentFinished::default()
    }
}

#[test]
fn a_task_goes_its_way() {
    let mut machine = Machine::new();
    assert_eq!(machine.start(task(1)), Err(Refused::NotReady("INIT")));
    machine.register(url()).unwrap();
    assert_eq!(machine.name(), "READY");
    let play = machine.start(task(1)).unwrap();
    assert_eq!(machine.name(), "RUNNING");
    assert_eq!(machine.start(task(2)), Err(Refused::NotReady("RUNNING")));
    assert_eq!(machine.register(url()), Err(Refused::Busy("RUNNING")));
    let other = machine.stop(Asker::Evaluator, Some("0"));
    assert_eq!(other, Err(Refused::OtherTask("1".to_owned())));
    assert_eq!(machine.name(), "RUNNING");
    assert_eq!(machine.stop(Asker::Evaluator, Some("1")), Ok(play));
    assert_eq!(
        machine.stop(Asker::Evaluator, None),
        Err(Refused::NotRunning)
    );
    assert_eq!(machine.name(), "STOPPING");
    assert_eq!(machine.ended(play, end(None)), None);
    assert_eq!(machine.name(), "READY");
    assert_eq!(machine.status().current_task, Some(task(1)));
}

#[test]
fn r08_an_idle_agent_is_registered_again() {
    let mut machine = Machine::new();
    machine.register(url()).unwrap();
    let other = PeerUrl::parse("http://127.0.0.1:2").unwrap();
    machine.register(other.clone()).unwrap();
    let play = machine.start(task(1)).unwrap();
    let notice = machine.ended(play, end(Some(StopReason::Finished)));
    assert_eq!(notice.unwrap().to, other);
    assert!(matches!(machine.start(task(1)), Err(Refused::UsedId(_))));
    machine.register(url()).unwrap();
    machine.start(task(1)).unwrap();
}

#[test]
fn the_evaluator_is_told_once_and_never_of_what_it_asked_for() {
    let mut machine = Machine::new();
    machine.register(url()).unwrap();
    let first = machine.start(task(1)).unwrap();
    let failed = end(Some(StopReason::AgentError));
    assert!(machine.steps_over(first, &failed).is_some());
    assert_eq!(machine.name(), "RUNNING", "its last hook still runs");
    assert_eq!(machine.steps_over(first, &failed), None);
    assert_eq!(machine.ended(first, failed), None);
    let second = machine.start(task(2)).unwrap();
    machine.stop(Asker::Evaluator, None).unwrap();
    assert_eq!(machine.ended(second, end(Some(StopReason::Finished))), None);
    let third = machine.start(task(3)).unwrap();
    machine.stop(Asker::Operator, None).unwrap();
    let notice = machine.ended(third, end(Some(StopReason::Operator)));
    assert_eq!(notice.unwrap().body.reason, Some(StopReason::Operator));
}

#[derive(Debug, Clone)]
enum Call {
    Register,
    Start(u64),
    Stop(Asker),
    StepsOver(u64, Option<StopReason>),
    Ended(u64, Option<StopReason>),
    Reset,
}

fn call() -> impl Strategy<Value = Call> {
    let reason = prop_oneof![
        Just(None),
        Just(Some(StopReason::Finished)),
        Just(Some(StopReason::AgentError)),
    ];
    // How many plays ago: late ends are part of life.
    let ago = 0..3_u64;
    prop_oneof![
        2 => Just(Call::Register),
        6 => (0..40_u64).prop_map(Call::Start),
        2 => Just(Call::Stop(Asker::Evaluator)),
        1 => Just(Call::Stop(Asker::Operator)),
        2 => (ago.clone(), reason.clone()).prop_map(|(ago, reason)| Call::StepsOver(ago, reason)),
        5 => (ago, reason).prop_map(|(ago, reason)| Call::Ended(ago, reason)),
        1 => Just(Call::Reset),
    ]
}

proptest! {
    #[test]
    fn whatever_is_called_one_play_never_touches_another(
        calls in proptest::collection::vec(call(), 0..120)
    ) {
        let mut machine = Machine::new();
        let mut told = std::collections::HashMap::<PlayId, u32>::new();
        let mut started = 0;
        for call in calls {
            let before = (machine.name(), machine.playing());
            let busy = machine.playing().is_some();
            let notice = match call {
                Call::Register => {
                    prop_assert_eq!(machine.register(url()).is_ok(), !busy);
                    None
                }
                Call::Start(id) => {
                    if let Ok(play) = machine.start(task(id)) {
                        started += 1;
                        prop_assert_eq!(before.0, "READY");
                        prop_assert_eq!(play, PlayId(started));
                        prop_assert_eq!(machine.name(), "RUNNING");
                        prop_assert_eq!(machine.status().ended, None);
                    } else {
                        prop_assert_eq!((machine.name(), machine.playing()), before);
                    }
                    None
                }
                Call::Stop(asker) => {
                    prop_assert_eq!(machine.stop(asker, None).is_ok(), before.0 == "RUNNING");
                    None
                }
                Call::StepsOver(ago, reason) => {
                    let id = PlayId(machine.last.0.saturating_sub(ago));
                    let notice = machine.steps_over(id, &end(reason));
                    prop_assert_eq!((machine.name(), machine.playing()), before);
                    notice
                }
                Call::Ended(ago, reason) => {
                    let id = PlayId(machine.last.0.saturating_sub(ago));
                    let notice = machine.ended(id, end(reason));
                    if before.1 == Some(id) {
                        prop_assert_eq!(machine.name(), "READY");
                    } else {
                        prop_assert_eq!((machine.name(), machine.playing()), before);
                        prop_assert!(notice.is_none());
                    }
                    notice
                }
                Call::Reset => {
                    prop_assert_eq!(machine.reset().is_ok(), !busy);
                    None
                }
            };
            if let Some(notice) = notice {
                let count = told.entry(notice.play).or_default();
                *count += 1;
                prop_assert_eq!(*count, 1, "told twice");
                prop_assert!(notice.body.reason.is_some());
            }
        }
    }
}
