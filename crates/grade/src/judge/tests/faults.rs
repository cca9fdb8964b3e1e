//! Judges that do not answer, or not as they should: faults, and never a verdict.

use std::sync::Arc;

use agon_core::check::ProseSubject;
use agon_core::{Action, FaultClass, Frames};
use agon_llm::{Account, Budget, Provider, Session, SessionOptions};
use serde_json::{Value, json};

use super::place::{
    Held, NOTHING, Place, fault, png, question, ran, returned, says, spec, step, text, votes,
};
use crate::judge::Shown;

#[tokio::test]
async fn an_answer_that_can_not_be_read_is_asked_for_once_more() {
    let place = Place::answering(&[json!("It passes."), says("fail")], votes(1));
    let (passed, judged) = place.ask(&returned("42")).await.unwrap();
    assert!(!passed);
    assert_eq!(judged.votes.len(), 1);
    assert!(
        judged.usage.input_tokens > 100,
        "the first was paid for as well"
    );
    let sent = place.sent();
    assert!(!text(&sent[0]).contains("could not be read"));
    assert!(text(&sent[1]).contains("Your last answer could not be read"));
    // What a model makes up never becomes a part of the question.
    assert!(!sent[1].to_string().contains("It passes."));
}

#[tokio::test]
async fn two_such_answers_are_a_fault() {
    for bad in [
        json!("pass"),
        json!("{\"verdict\": \"pass\"}"),
        fault("bad_answer"),
    ] {
        let place = Place::answering(&[bad.clone(), bad, says("pass")], votes(1));
        let fault = place.ask(&returned("42")).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Judge, "{fault}");
        assert!(fault.message.contains("mock/judge"), "{fault}");
        assert_eq!(place.calls().len(), 2);
    }
}

#[tokio::test]
async fn a_vote_that_fails_is_no_vote() {
    let answers = [says("pass"), fault("refusal")];
    let place = Place::answering(&answers, votes(3));
    let fault = place.ask(&returned("42")).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Judge);
}

#[tokio::test]
async fn evidence_that_a_service_refuses_to_read_is_told() {
    let place = Place::answering(&[fault("refusal"), says("pass")], votes(1));
    let fault_of_words = place.ask(&returned("bad words")).await.unwrap_err();
    assert_eq!(fault_of_words.class, FaultClass::Judge);
    let told = "suspicious: the judge's service refuses to read this";
    assert!(fault_of_words.message.contains(told), "{fault_of_words}");
    let sent = place.sent();
    assert_eq!(sent.len(), 2);
    assert!(text(&sent[0]).contains("bad words"));
    assert!(!sent[1].to_string().contains("bad words"));
    assert!(text(&sent[1]).contains("It says that there are 42."));
    // One who refuses the task itself says nothing about the evidence.
    let place = Place::answering(&[fault("refusal")], votes(1));
    let fault = place.ask(&returned("bad words")).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Judge);
    assert!(!fault.message.contains("suspicious"), "{fault}");
    assert_eq!(place.calls().len(), 2);
}

#[tokio::test]
async fn whose_doing_it_is_decides_the_class() {
    let cases = [
        ("overload", FaultClass::Judge),
        ("rate_limit", FaultClass::Judge),
        ("network", FaultClass::Judge),
        ("timeout", FaultClass::Judge),
        ("broken_response", FaultClass::Judge),
        ("refusal", FaultClass::Judge),
        ("bad_request", FaultClass::Judge),
        ("authentication", FaultClass::ModelSetup),
        ("setup", FaultClass::ModelSetup),
        ("not_on_tape", FaultClass::ModelSetup),
        ("budget", FaultClass::Model),
    ];
    for (name, class) in cases {
        let place = Place::answering(&[fault(name)], votes(1));
        let fault = place.ask(&returned("42")).await.unwrap_err();
        assert_eq!(fault.class, class, "{name}: {fault}");
    }
}

#[tokio::test]
async fn a_spent_budget_is_no_verdict() {
    let mut place = Place::answering(&[says("pass")], votes(3));
    let budget = Budget {
        tokens: Some(150),
        ..Budget::default()
    };
    // As in a run: judges have no limit of their own.
    let run = Arc::new(Account::of_run(budget));
    place.account = Arc::new(Account::of_trial(Budget::default(), Some(run)));
    place.account.add(&agon_core::Usage {
        input_tokens: 100,
        ..agon_core::Usage::default()
    });
    let fault = place.ask(&returned("42")).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Model, "{fault}");
    assert_eq!(place.calls().len(), 2, "the second was not sent");
}

#[tokio::test]
async fn a_question_that_is_too_long_is_made_shorter_twice() {
    let flow: Vec<_> = (1..=20)
        .map(|n| step(n, Action::Screenshot, Some(n as u8)))
        .collect();
    let shown = Shown {
        flow: &flow,
        pictures: &Held,
        ..NOTHING
    };
    let question = question(&ProseSubject::ExpectedFlow, shown);
    let mut options = votes(1);
    // Sixteen pictures of 1366 tokens.
    options.picture_tokens = 16 * 1366;
    let long = || fault("context_overflow");
    let place = Place::answering(&[long(), long(), says("pass")], options.clone());
    let (passed, judged) = place.ask(&question).await.unwrap();
    assert!(passed);
    assert_eq!(judged.frames, Some(Frames { shown: 4, of: 20 }));
    let pictures = |body: &Value| text(body).matches("[picture]").count();
    let shown: Vec<_> = place.sent().iter().map(pictures).collect();
    assert_eq!(shown, [16, 8, 4]);

    let place = Place::answering(&[long()], options);
    let fault = place.ask(&question).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Judge);
    assert!(fault.message.contains("--judge"), "{fault}");
    assert_eq!(place.calls().len(), 3);
}

#[tokio::test]
async fn texts_get_shorter_as_well() {
    let long = "y".repeat(50_000);
    let ran = ran(&long, "");
    let subject = ProseSubject::CommandOutput {
        command: "yes".into(),
    };
    let shown = Shown {
        ran: Some(&ran),
        ..NOTHING
    };
    let place = Place::answering(&[fault("context_overflow"), says("fail")], votes(1));
    place.ask(&question(&subject, shown)).await.unwrap();
    let lengths: Vec<_> = place.sent().iter().map(|body| text(body).len()).collect();
    assert!(lengths[1] < lengths[0] * 2 / 3, "{lengths:?}");
}

#[tokio::test]
async fn evidence_that_is_missing_is_a_fault() {
    let command = ProseSubject::CommandOutput {
        command: "ls".into(),
    };
    let broken = Shown {
        last: Some(b"no picture"),
        ..NOTHING
    };
    let flow = [step(1, Action::Screenshot, Some(1))];
    let lost: Vec<_> = flow
        .iter()
        .map(|step| crate::FlowStep {
            screen: step.screen.as_ref().map(|picture| picture.without_data()),
            ..step.clone()
        })
        .collect();
    let lost = Shown {
        flow: &lost,
        pictures: &Held,
        ..NOTHING
    };
    for (subject, shown) in [
        (&ProseSubject::FinalScreenshot, NOTHING),
        (&ProseSubject::FinalScreenshot, broken),
        (&ProseSubject::ExpectedFlow, lost),
        (&command, NOTHING),
    ] {
        let place = Place::answering(&[says("pass")], votes(1));
        let fault = place.ask(&question(subject, shown)).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Evidence, "{fault}");
        assert!(place.calls().is_empty());
    }
}

#[tokio::test]
async fn a_judge_that_can_not_see_judges_no_screens() {
    let blind = || {
        let mut spec = spec(Provider::Mock, "text:{}", "");
        spec.settings.disable_vision = true;
        let answer = says("pass")["text"].as_str().unwrap().to_owned();
        spec.model = format!("text:{answer}");
        let session = Session::open(&SessionOptions::default()).unwrap();
        Place::of(session.model(spec).unwrap(), votes(1))
    };
    let (last, flow) = (png(10, 10, 1), [step(1, Action::Screenshot, Some(1))]);
    let shown = Shown {
        result: Some("42"),
        last: Some(&last),
        flow: &flow,
        pictures: &Held,
        ran: None,
    };
    for subject in [ProseSubject::FinalScreenshot, ProseSubject::ExpectedFlow] {
        let fault = blind().ask(&question(&subject, shown)).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::ModelSetup, "{fault}");
    }
    let place = blind();
    let asked = question(&ProseSubject::ReturnedResult, shown);
    assert!(place.ask(&asked).await.unwrap().0);
    assert!(text(&place.sent()[0]).contains("you can't see pictures"));
}
