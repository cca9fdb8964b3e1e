//! Messages of an agent and who answers them: every kind of user, and every way in which one can fail.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_agent::user::{Person, UserError, Users};
use agon_core::observation::ObservationKind;
use agon_core::user::{EXIT, Nudge, OwnUser, Persona, Rule, Rules, UserVoice};
use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{
    Action, Digest, Event, EventBody, FaultClass, Limits, Purpose, Seconds, Source, User,
};
use async_trait::async_trait;
use serde_json::json;

use crate::flow_place::{Actor, Played, conversation, fault, limited, model, play, play_once, say};

#[tokio::test]
async fn what_is_said_goes_to_the_user() {
    let rule = |when: &str, say: &str| Rule {
        when: when.to_owned(),
        say: say.to_owned(),
        once: false,
    };
    let user = User::Rules(Rules {
        rules: vec![rule("colour", "Blue."), rule("thank", EXIT)],
        otherwise: "Pardon?".to_owned(),
    });
    let actor = Actor::doing(&[say("Hello"), say("Which colour?")]);
    let played = play_once(conversation(user), actor).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    assert_eq!(played.texts(ObservationKind::Reply), ["Pardon?", "Blue."]);
    let replies = played.events.iter().filter(|event| {
        matches!(&event.body, EventBody::Observation(seen) if seen.kind == ObservationKind::Reply)
    });
    for event in replies {
        assert_eq!(event.source, Source::User);
    }
}

#[tokio::test]
async fn the_last_message_to_a_user_who_leaves_is_the_result() {
    let nudge = Nudge {
        solution_tags: false,
        answer: Some("^done$".to_owned()),
    };
    let actor = Actor::doing(&[say("what now?"), say("done"), Action::run("never")]);
    let played = play_once(conversation(User::Nudge(nudge)), actor).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    assert_eq!(
        (played.line.outcome, played.line.steps),
        (Outcome::Passed, 2)
    );
    let words = played.texts(ObservationKind::Reply);
    assert!(
        matches!(words[..], [words] if words.contains("finish")),
        "{words:?}"
    );
}

#[tokio::test]
async fn a_user_with_nothing_to_say_takes_note() {
    let actor = Actor::doing(&[say("hello"), say("again")]);
    let played = play_once(conversation(User::Script(vec!["hi".to_owned()])), actor).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    assert_eq!(played.texts(ObservationKind::Reply), ["hi"]);
    assert_eq!(played.texts(ObservationKind::Done), [""]);
}

#[derive(Debug)]
struct Looking(Arc<Mutex<Vec<Vec<Event>>>>);

impl UserVoice for Looking {
    fn digest(&self) -> Digest {
        Digest::of(b"looking")
    }

    fn reply(&self, so_far: &[Event]) -> String {
        self.0.lock().unwrap().push(so_far.to_vec());
        "go on".to_owned()
    }
}

#[tokio::test]
async fn a_user_of_the_program_itself_sees_all_that_happened() {
    let heard = Arc::default();
    let user = User::Own(OwnUser::new(Looking(Arc::clone(&heard))));
    let thinking = Action::Think {
        thought: "hm".to_owned(),
    };
    let actor = Actor::doing(&[say("one"), thinking, say("two")]);
    let played = play_once(conversation(user), actor).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    for (so_far, last) in heard.iter().zip(["one", "two"]) {
        // The record up to the message, from its first event.
        assert_eq!(so_far[..], played.events[..so_far.len()]);
        let body = &so_far.last().unwrap().body;
        assert_eq!(*body, EventBody::Action(say(last)));
    }
    assert!(heard[0].len() < heard[1].len());
}

#[derive(Debug)]
struct Broken;

impl UserVoice for Broken {
    fn digest(&self) -> Digest {
        Digest::of(b"broken")
    }

    fn reply(&self, so_far: &[Event]) -> String {
        assert!(so_far.is_empty(), "a bug of somebody else");
        String::new()
    }
}

#[tokio::test]
async fn a_user_that_breaks_is_a_fault() {
    let user = User::Own(OwnUser::new(Broken));
    let played = play_once(conversation(user), Actor::doing(&[say("hello")])).await;
    assert_eq!(fault(&played), FaultClass::ModelSetup);
    let why = &played.line.fault.as_ref().unwrap().message;
    assert!(why.contains("a bug of somebody else"), "{why}");
}

/// Waits for something that never happens.
#[derive(Debug)]
struct Lost;

impl UserVoice for Lost {
    fn digest(&self) -> Digest {
        Digest::of(b"lost")
    }

    fn reply(&self, _: &[Event]) -> String {
        loop {
            std::thread::park();
        }
    }
}

#[tokio::test]
async fn a_user_of_the_program_itself_has_a_deadline() {
    let task = limited(conversation(User::Own(OwnUser::new(Lost))), |limits| {
        limits.step = Seconds::whole(1);
    });
    let played = play_once(task, Actor::doing(&[say("hello")])).await;
    assert_eq!(fault(&played), FaultClass::Timeout);
}

#[tokio::test]
async fn nobody_waits_for_a_person_who_is_not_there() {
    let played = play_once(conversation(User::Person), Actor::doing(&[])).await;
    assert_eq!(fault(&played), FaultClass::ModelSetup);
    let why = &played.line.fault.as_ref().unwrap().message;
    assert!(why.contains("--interactive"), "{why}");
}

/// Takes longer to answer than the agent has for its whole turn.
#[derive(Debug)]
struct Slow;

#[async_trait]
impl Person for Slow {
    async fn ask(&self, _: &str) -> Result<String, UserError> {
        tokio::time::sleep(Duration::from_millis(2_100)).await;
        Ok("well".to_owned())
    }
}

#[tokio::test]
async fn the_time_of_a_user_is_not_the_agents() {
    let task = limited(conversation(User::Person), |limits| {
        limits.seconds = Seconds::whole(2);
        limits.step = Seconds::whole(1);
    });
    let users = Users {
        person: Some(Arc::new(Slow)),
        ..Users::default()
    };
    let played = play(task, Actor::doing(&[say("hello")]), users, 0).await;
    assert_eq!(played[0].end(), Some(TurnEnd::Finished));
    assert_eq!(played[0].texts(ObservationKind::Reply), ["well"]);
}

fn persona() -> User {
    User::Persona(Persona {
        character: "You are Ann.".to_owned(),
        goal: "Get a red one.".to_owned(),
        facts: vec!["It is red.".to_owned()],
        model: None,
        patience: 5,
    })
}

async fn with_persona(answers: serde_json::Value, change: impl FnOnce(&mut Limits)) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let users = Users {
        models: vec![model(folder.path(), &answers)],
        person: None,
    };
    let task = limited(conversation(persona()), change);
    let actor = Actor::doing(&[say("Colour?"), say("Size?")]);
    let mut played = play(task, actor, users, 0).await;
    assert_eq!(played.len(), 1);
    played.remove(0)
}

#[tokio::test]
async fn a_persona_is_paid_for_and_recorded() {
    let fine = r#"{"truthful": true, "why": ""}"#;
    let played = with_persona(json!(["Red.", fine, "No idea.", fine]), |_| {}).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    assert_eq!(played.texts(ObservationKind::Reply), ["Red.", "No idea."]);
    assert_eq!(played.line.usage.calls, 4);
    let calls: Vec<_> = played
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Model(call) => Some((event.source, call.purpose)),
            EventBody::Observation(seen) if seen.kind == ObservationKind::Reply => {
                Some((event.source, Purpose::Agent))
            }
            _ => None,
        })
        .collect();
    let once = [
        (Source::User, Purpose::User),
        (Source::Grader, Purpose::Judge),
        (Source::User, Purpose::Agent),
    ];
    assert_eq!(
        calls,
        [once, once].concat(),
        "calls come before what they led to"
    );
}

#[tokio::test]
async fn a_persona_whose_model_is_not_there_is_a_fault() {
    // A service that takes no request at all is not set up.
    let down = json!([{ "fault": "bad_request" }, { "fault": "bad_request" }]);
    assert_eq!(fault(&with_persona(down, |_| {}).await), FaultClass::Model);
    let key = json!([{ "fault": "authentication" }]);
    assert_eq!(
        fault(&with_persona(key, |_| {}).await),
        FaultClass::ModelSetup
    );
}

/// Otherwise an agent could talk itself out of being graded.
#[tokio::test]
async fn a_persona_that_can_not_answer_is_no_fault_and_leaves_a_note() {
    let lie = r#"{"truthful": false, "why": "it is red"}"#;
    let lies = [json!("Green."), json!(lie)];
    let refusal = json!({ "fault": "refusal" });
    let answers = [lies.clone(), lies.clone(), lies].concat();
    let answers = [answers, vec![refusal; 3]].concat();
    let played = with_persona(json!(answers), |_| {}).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    assert_eq!(played.line.outcome, Outcome::Passed);
    let said = played.texts(ObservationKind::Reply);
    assert!(
        said.len() == 2 && said.iter().all(|said| said.contains("nothing to say")),
        "{said:?}"
    );
    let notes = played.events.iter().filter_map(|event| match &event.body {
        EventBody::Note(note) if event.source == Source::User => Some(note.as_str()),
        _ => None,
    });
    let notes: Vec<_> = notes.collect();
    assert!(
        matches!(notes[..], [one, two] if one.contains("it is red") && two.contains("refusal")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn what_a_persona_costs_is_not_taken_from_the_agent() {
    let fine = r#"{"truthful": true, "why": ""}"#;
    let answers = json!(["Red.", fine, "Large.", fine]);
    let played = with_persona(answers, |limits| limits.tokens = Some(1)).await;
    assert_eq!(played.end(), Some(TurnEnd::Finished));
    assert_eq!(played.line.outcome, Outcome::Passed);
    assert!(played.line.usage.tokens() > 1);
}
