//! What a model or its service can do wrong, and how the turn ends then.

use std::sync::Arc;

use agon_agent::{AgentError, Answer, Contender as _};
use agon_core::verdict::TurnEnd;
use agon_core::{Action, Observation};
use serde_json::{Value, json};

use super::play::{Play, Setup, model, screen};
use crate::agents::contender::GuiContender;
use crate::agents::kinds::Named;
use crate::agents::options::Options;
use crate::agents::react::React;

fn react(options: &str) -> Arc<React> {
    Arc::new(React::new(Options::parse(options).unwrap()).unwrap())
}

fn look() -> Value {
    json!(r#"{"tool": {"name": "take_screenshot", "parameters": {}}}"#)
}

async fn play(answers: Vec<Value>) -> Play {
    let setup = Setup {
        answers,
        ..Setup::default()
    };
    Play::of(react(""), setup).await
}

#[tokio::test]
async fn failures_of_the_service_are_told_from_those_of_the_model() {
    let of = async |fault: &str| {
        let mut play = play(vec![json!({"fault": fault})]).await;
        play.act(&screen(64, 64, 1)).await
    };
    for fault in ["overload", "rate_limit", "timeout", "network", "setup"] {
        let answer = of(fault).await;
        assert!(
            matches!(answer, Err(AgentError::Model(_))),
            "{fault}: {answer:?}"
        );
    }
    for fault in ["refusal", "context_overflow"] {
        let answer = of(fault).await;
        assert!(
            matches!(answer, Err(AgentError::Crashed(_))),
            "{fault}: {answer:?}"
        );
    }
    let answer = of("bad_answer").await;
    assert!(
        matches!(answer, Ok(Answer::NotAnAction { .. })),
        "{answer:?}"
    );
}

#[tokio::test]
async fn a_model_that_is_told_of_its_bad_answer_goes_on() {
    let mut play = play(vec![
        json!({"fault": "bad_answer", "why": "no JSON"}),
        look(),
    ])
    .await;
    let (_, why) = play.refused(&screen(64, 64, 1)).await;
    assert!(why.contains("could not be read: no JSON"), "{why}");
    let next = play.does(&Observation::refused(why)).await;
    assert_eq!(next, Action::Screenshot);
}

#[tokio::test]
async fn a_conversation_that_is_too_long_becomes_shorter_and_goes_on() {
    let mut answers = vec![look(); 4];
    answers.extend([json!({"fault": "context_overflow"}), look()]);
    let mut play = play(answers).await;
    for shade in 1..=4 {
        play.does(&screen(64, 64, shade)).await;
    }
    let reply = Play::reply(play.act(&screen(64, 64, 5)).await);
    let gone = reply.condensed.unwrap();
    assert_eq!((gone.from, gone.to), (1, 2));
    let lengths: Vec<usize> = play.asked()[4..]
        .iter()
        .map(|body| body["messages"].as_array().unwrap().len())
        .collect();
    assert_eq!(lengths, [10, 6]);
}

#[tokio::test]
async fn spent_tokens_end_the_turn_and_a_task_without_a_screen_is_none_for_it() {
    let long = json!({"text": look(), "usage": {"input_tokens": 1_000_000, "output_tokens": 0}});
    let setup = Setup {
        answers: vec![long],
        tokens: Some(1_000_000),
        ..Setup::default()
    };
    let mut broke = Play::of(react(""), setup).await;
    broke.does(&screen(64, 64, 1)).await;
    let answer = broke.act(&screen(64, 64, 2)).await;
    let spent = AgentError::OutOfBudget(TurnEnd::TokenLimit);
    assert_eq!(answer, Err(spent));

    let answer = play(vec![look()]).await.act(&Observation::ready("")).await;
    let Err(AgentError::Unfit(why)) = answer else {
        panic!("{answer:?}");
    };
    assert!(why.contains("no screen"), "{why}");
}

#[test]
fn a_model_that_sees_nothing_is_refused_and_options_are_a_part_of_the_identity() {
    let folder = tempfile::tempdir().unwrap();
    let blind = model(
        folder.path(),
        "model = \"mock/echo\"\ndisable_vision = true",
    );
    let why = GuiContender::new("react", react(""), Some(&blind)).unwrap_err();
    assert!(why.to_string().contains("vision"), "{why}");
    let none = GuiContender::new("react", react(""), None).unwrap_err();
    assert!(none.to_string().contains("--model NAME"), "{none}");
    let seeing = model(folder.path(), "model = \"mock/echo\"");
    let digest = |options| {
        let contender = GuiContender::new("react", react(options), Some(&seeing));
        contender.unwrap().digest().unwrap()
    };
    assert_eq!(digest(""), digest(""));
    assert_ne!(digest(""), digest("pictures=2"));
}
