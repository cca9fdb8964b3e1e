//! The picture of how an agent is played, arrow by arrow: what can be run goes to the sandbox, what is said
//! goes to the user, and every way out leaves a record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_agent::user::Users;
use agon_agent::{AgentError, Answer};
use agon_core::observation::ObservationKind;
use agon_core::user::Nudge;
use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{
    Action, ActionKind, Condensation, EventBody, FaultClass, Money, Seconds, Source, Task, Usage,
    User,
};
use serde_json::json;

use crate::flow_place::{
    Actor, conversation, fault, finish, limited, model, play, play_once, say, workplace,
};

#[tokio::test]
async fn what_can_be_run_goes_to_the_sandbox_and_what_is_seen_to_the_agent() {
    let actor = Actor::new(|step, seen| {
        Ok(match step {
            1 => Action::run("echo hello > f").into(),
            2 => Action::run("cat f; exit 3").into(),
            // It answers what it saw.
            _ => finish(if seen.text.contains("hello") {
                "done"
            } else {
                "?"
            })
            .into(),
        })
    });
    let played = play_once(workplace(), actor).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    assert_eq!(
        (played.line.outcome, played.line.steps),
        (Outcome::Passed, 3)
    );
    let seen = played.observations();
    assert_eq!(seen[0].kind, ObservationKind::Ready);
    assert_eq!(
        (seen[1].exit_status, seen[1].kind),
        (Some(0), ObservationKind::Output)
    );
    // Every observation names the action that it answers.
    let mut actions = Vec::new();
    for event in &played.events {
        match &event.body {
            EventBody::Action(_) => actions.push(event.seq),
            EventBody::Observation(seen) if seen.kind != ObservationKind::Ready => {
                assert_eq!(event.cause, actions.last().copied());
                assert_eq!(event.source, Source::Environment);
            }
            _ => {}
        }
    }
    assert_eq!(actions.len(), 3);
}

#[tokio::test]
async fn an_error_in_the_sandbox_is_told_to_the_agent_and_the_turn_goes_on() {
    let missing = Action::Read {
        path: "nowhere".to_owned(),
        lines: None,
    };
    let actor = Actor::doing(&[missing, Action::run("false")]);
    let played = play_once(workplace(), actor).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    let errors = played.texts(ObservationKind::Error);
    assert!(
        matches!(errors[..], [why] if why.contains("nowhere")),
        "{errors:?}"
    );
    assert_eq!(played.observations()[2].exit_status, Some(1));
}

#[tokio::test]
async fn what_is_no_action_is_refused_and_the_turn_goes_on() {
    let forgot = Condensation {
        from: 1,
        to: 1,
        summary: None,
    };
    let forgotten = forgot.clone();
    let actor = Actor::new(move |step, _| {
        Ok(match step {
            1 => Answer::NotAnAction {
                text: "fly".to_owned(),
                why: "there is no `fly`".to_owned(),
                condensed: Some(forgot.clone()),
            },
            2 => Action::Screenshot.into(),
            _ => finish("done").into(),
        })
    });
    let task = Task {
        actions: vec![ActionKind::Run, ActionKind::Finish],
        ..conversation(User::default())
    };
    let played = play_once(task, actor).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    let refused = played.texts(ObservationKind::Refused);
    assert_eq!(refused.len(), 2);
    assert_eq!(refused[0], "there is no `fly`");
    assert!(
        refused[1].contains("`screenshot` is not allowed"),
        "{refused:?}"
    );
    let told = EventBody::Condensed(forgotten);
    assert!(played.events.iter().any(|event| event.body == told));
}

#[tokio::test]
async fn an_agent_may_refuse_the_task() {
    let reject = Action::Reject {
        reason: Some("no".to_owned()),
    };
    let played = play_once(conversation(User::default()), Actor::doing(&[reject])).await;
    assert_eq!(played.end(), Some(TurnEnd::Rejected));
    assert!(
        played.line.reason.contains("refused"),
        "{}",
        played.line.reason
    );
    assert_eq!(
        (played.line.outcome, played.line.steps),
        (Outcome::Failed, 1)
    );
}

#[tokio::test]
async fn steps_are_limited() {
    let actor = Actor::new(|step, _| Ok(Action::run(format!("echo {step}")).into()));
    let task = limited(workplace(), |limits| limits.steps = 3);
    let played = play_once(task, actor).await;
    assert_eq!(played.end(), Some(TurnEnd::StepLimit));
    assert_eq!(
        (played.line.outcome, played.line.steps),
        (Outcome::Failed, 3)
    );
    assert!(
        played.line.reason.contains("3 steps"),
        "{}",
        played.line.reason
    );
}

#[tokio::test]
async fn tokens_and_money_are_limited() {
    for (tokens, money, expected) in [
        (Some(50), None, TurnEnd::TokenLimit),
        (None, Some(Money::from_micros(50)), TurnEnd::MoneyLimit),
    ] {
        let actor = Actor::new(|_, _| {
            let used = Usage {
                input_tokens: 20,
                money: Some(Money::from_micros(20)),
                ..Usage::default()
            };
            let reply = agon_agent::Reply {
                usage: Some(used),
                ..say("hm").into()
            };
            Ok(Answer::Reply(reply))
        });
        let task = limited(conversation(User::default()), |limits| {
            limits.tokens = tokens;
            limits.money = money;
        });
        let played = play_once(task, actor).await;
        assert_eq!(played.end(), Some(expected));
        assert_eq!(played.line.steps, 3, "{expected}");
    }
}

#[tokio::test]
async fn a_model_that_has_no_budget_left_ends_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let usage = json!({ "input_tokens": 30, "output_tokens": 5 });
    let answers = json!([{ "text": "go on", "usage": usage }]);
    let actor = Actor::new(|step, _| Ok(say(&step.to_string()).into()));
    let actor = actor.asking(model(folder.path(), &answers));
    let task = limited(conversation(User::default()), |limits| {
        limits.tokens = Some(60)
    });
    let played = play_once(task, actor).await;
    assert_eq!(played.end(), Some(TurnEnd::TokenLimit));
    // A second call may come to more than what is left.
    assert_eq!((played.line.usage.tokens(), played.line.steps), (35, 1));
}

#[tokio::test]
async fn a_model_that_is_down_is_a_fault_and_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let answers = json!(["fine", { "fault": "bad_request", "why": "nobody there" }]);
    let actor = Actor::new(|step, _| Ok(say(&step.to_string()).into()));
    let actor = actor.asking(model(folder.path(), &answers));
    let played = play_once(conversation(User::default()), actor).await;
    assert_eq!(fault(&played), FaultClass::Model);
    assert_eq!((played.line.end, played.line.steps), (None, 1));
}

#[tokio::test]
async fn an_agent_that_repeats_itself_is_stopped_if_it_wants_to_be() {
    let same = || Actor::new(|_, _| Ok(Action::run("ls").into()));
    let task = || limited(workplace(), |limits| limits.steps = 6);
    let played = play_once(task(), same().ending_when_stuck()).await;
    assert_eq!(played.end(), Some(TurnEnd::Stuck));
    assert_eq!(
        (played.line.outcome, played.line.steps),
        (Outcome::Failed, 4)
    );
    let reason = &played.line.reason;
    assert!(
        reason.contains("stuck") && reason.contains("four times"),
        "{reason}"
    );
    let played = play_once(task(), same()).await;
    assert_eq!(played.end(), Some(TurnEnd::StepLimit));
    // One that finds something new each time is not stuck.
    let busy = Actor::new(|step, _| Ok(Action::run(format!("exit {step}")).into()));
    let played = play_once(task(), busy.ending_when_stuck()).await;
    assert_eq!(played.end(), Some(TurnEnd::StepLimit));
}

#[tokio::test]
async fn waiting_and_looking_again_are_not_being_stuck() {
    let task = || {
        limited(workplace(), |limits| {
            limits.quiet = Seconds::new(0.05).unwrap()
        })
    };
    let mut waiting = vec![Action::run("sleep 600")];
    waiting.extend(vec![Action::run(""); 8]);
    let played = play_once(task(), Actor::doing(&waiting).ending_when_stuck()).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    let running = played
        .observations()
        .into_iter()
        .filter(|seen| seen.running);
    assert_eq!(running.count(), 9);
    let looking = vec![Action::run("echo >> log; wc -l log"); 6];
    let played = play_once(task(), Actor::doing(&looking).ending_when_stuck()).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    let looking = vec![Action::run("echo >> log; wc -l log"); 9];
    let played = play_once(task(), Actor::doing(&looking).ending_when_stuck()).await;
    assert_eq!((played.end(), played.line.steps), (Some(TurnEnd::Stuck), 8));
}

#[tokio::test]
async fn an_agent_that_says_the_same_over_and_over_is_stuck() {
    let actor = Actor::new(|_, _| Ok(say("what now?").into())).ending_when_stuck();
    let task = conversation(User::Nudge(Nudge::default()));
    let played = play_once(task, actor).await;
    assert_eq!((played.end(), played.line.steps), (Some(TurnEnd::Stuck), 3));
}

#[tokio::test]
async fn agents_that_end_themselves_leave_a_record() {
    for (error, expected) in [
        (AgentError::Left, TurnEnd::Left),
        (AgentError::Crashed("exit 1".to_owned()), TurnEnd::Crashed),
        (AgentError::Garbage("]".to_owned()), TurnEnd::Garbage),
    ] {
        let actor = Actor::new(move |step, _| match step {
            1 => Ok(say("hello").into()),
            _ => Err(error.clone()),
        });
        let played = play_once(conversation(User::default()), actor).await;
        assert_eq!(played.end(), Some(expected));
        assert_eq!(
            (played.line.outcome, played.line.steps),
            (Outcome::Failed, 1)
        );
    }
    let gone = Actor::new(|_, _| Err(AgentError::Unreachable("no route".to_owned())));
    let played = play_once(conversation(User::default()), gone).await;
    assert_eq!(fault(&played), FaultClass::AgentUnreachable);
}

#[tokio::test]
async fn why_a_turn_ended_is_told_apart_from_other_notes() {
    let crash = Actor::new(|_, _| Err(AgentError::Crashed("exit 1".to_owned())));
    let many = Actor::new(|step, _| Ok(say(&step.to_string()).into()));
    let same = Actor::new(|_, _| Ok(say("hm").into())).ending_when_stuck();
    for (actor, why) in [
        (crash, Some("exit 1")),
        (many, Some("5 steps")),
        (same, Some("stuck")),
        (Actor::doing(&[]), None),
    ] {
        let task = limited(conversation(User::default()), |limits| limits.steps = 5);
        let played = play_once(task, actor).await;
        let end = played.events.iter().find_map(|event| match event.body {
            EventBody::End(_) => Some(event.seq),
            _ => None,
        });
        assert!(end.is_some());
        let notes = played.events.iter().filter_map(|event| match &event.body {
            EventBody::Note(note) => Some((event.cause, event.source, note.as_str())),
            _ => None,
        });
        let notes: Vec<_> = notes.collect();
        match (&notes[..], why) {
            ([(cause, Source::Harness, note)], Some(why)) => {
                assert_eq!(*cause, end);
                assert!(note.contains(why), "{note}");
            }
            (notes, why) => assert!(notes.is_empty() && why.is_none(), "{notes:?}"),
        }
    }
}

/// The processes that this one has started.
fn children() -> Vec<String> {
    let mut children = Vec::new();
    for thread in std::fs::read_dir("/proc/self/task").unwrap() {
        let file = thread.unwrap().path().join("children");
        let pids = std::fs::read_to_string(file).unwrap_or_default();
        children.extend(pids.split_whitespace().map(str::to_owned));
    }
    children
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_killed_in_the_middle_is_a_fault_and_is_tried_again() {
    let killed = Arc::new(AtomicBool::new(false));
    let actor = Actor::new(move |step, seen| {
        if step == 2 && !killed.swap(true, Ordering::Relaxed) {
            // Nextest gives every test a process of its own: all children are of this sandbox.
            let children = children();
            assert!(!children.is_empty());
            let mut kill = std::process::Command::new("kill");
            assert!(kill.arg("-9").args(children).status().unwrap().success());
            // Dying takes a moment, in which a shorter command might end.
            return Ok(Action::run("sleep 60").into());
        }
        let answered = seen.text.contains("still there");
        Ok(match (step, answered) {
            (1, _) => Action::run("echo hello"),
            (_, false) => Action::run("echo still there"),
            (_, true) => finish("done"),
        }
        .into())
    });
    let played = play(workplace(), actor, Users::default(), 1).await;
    assert_eq!(played.len(), 2);
    assert_eq!(fault(&played[0]), FaultClass::Environment);
    assert!(!played[0].line.is_final);
    assert_eq!(played[0].line.end, None, "{:#?}", played[0].events);
    assert_eq!(played[1].line.outcome, Outcome::Passed);
    assert!(played[1].line.is_final && played[1].line.retried);
}
