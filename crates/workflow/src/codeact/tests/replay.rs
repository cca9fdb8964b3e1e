//! Actions that were given beforehand.

use agon_core::observation::ObservationKind;
use agon_core::{Action, Observation};
use serde_json::json;

use super::play::{Play, Setup, output};

fn played() -> Vec<Action> {
    vec![
        Action::run("ls"),
        Action::Write {
            path: "a".to_owned(),
            content: "x".to_owned(),
            create: true,
        },
        Action::Message {
            text: "Right?".to_owned(),
        },
    ]
}

#[tokio::test]
async fn they_are_played_first_and_then_the_model_goes_on() {
    let mut play = Play::of(Setup {
        played: played(),
        answers: vec![json!({"text": "I go on."})],
        ..Setup::default()
    })
    .await;
    assert_eq!(play.first().await.action, played()[0]);
    assert_eq!(play.then(&output("nothing", 0)).await.action, played()[1]);
    let done = Observation::new(ObservationKind::Done, "written");
    assert_eq!(play.then(&done).await.action, played()[2]);
    assert!(play.asked().is_empty());
    let reply = play
        .then(&Observation::new(ObservationKind::Reply, "right"))
        .await;
    assert_eq!(
        reply.action,
        Action::Message {
            text: "I go on.".to_owned()
        }
    );
    insta::assert_json_snapshot!("after_replay", play.shown());
}

#[tokio::test]
async fn without_a_model_it_finishes() {
    let mut play = Play::of(Setup {
        played: vec![Action::run("ls")],
        no_model: true,
        ..Setup::default()
    })
    .await;
    assert_eq!(play.first().await.action, Action::run("ls"));
    let last = play.then(&output("", 0)).await;
    assert_eq!(last.action, Action::Finish { result: None });
}

/// What a service is asked after two actions that were given beforehand.
async fn asked_of(service: &str) -> serde_json::Value {
    let mut play = Play::of(Setup {
        played: played()[..2].to_vec(),
        service: Some(service),
        ..Setup::default()
    })
    .await;
    play.first().await;
    play.then(&output("nothing", 0)).await;
    let done = Observation::new(ObservationKind::Done, "written");
    play.fails(&done).await;
    play.asked().pop().unwrap()
}

#[tokio::test]
async fn claude_keeps_the_prompt_the_task_and_the_newest_result() {
    let body = asked_of("anthropic/claude-sonnet-4-5").await;
    assert!(body["system"].to_string().contains("cache_control"));
    let messages = body["messages"].as_array().unwrap();
    let marked = |message: &serde_json::Value| message.to_string().contains("cache_control");
    let marks: Vec<bool> = messages.iter().map(marked).collect();
    assert_eq!(marks, [true, false, false, false, true]);
    insta::assert_json_snapshot!("claude_messages", messages);
}

#[tokio::test]
async fn every_service_is_shown_both_calls_and_both_results() {
    for service in ["openai/gpt-4o", "openai/gpt-5", "gemini/gemini-2.5-pro"] {
        let body = asked_of(service).await.to_string();
        for part in ["call_1_1", "call_2_1", "nothing", "written", "execute_bash"] {
            let by_name = service.starts_with("gemini") && part.starts_with("call_");
            assert!(by_name || body.contains(part), "{service}: {part}: {body}");
        }
    }
}
