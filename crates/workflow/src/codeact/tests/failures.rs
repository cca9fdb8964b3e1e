//! What a model or its service can do wrong, and how the turn ends then.

use agon_agent::{Agent as _, AgentError, Answer};
use agon_core::Observation;
use agon_core::verdict::TurnEnd;
use serde_json::{Value, json};

use super::play::{Play, Setup, bash, output};

fn overflow() -> Value {
    json!({"fault": "context_overflow"})
}

/// So many commands, then a conversation that is too long, then whatever follows.
fn after(commands: usize, rest: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut answers = vec![bash("ls"); commands];
    answers.extend(rest);
    answers
}

#[tokio::test]
async fn a_conversation_that_is_too_long_becomes_shorter_and_goes_on() {
    let mut play = Play::of(Setup {
        toml: "[condenser]\ntype = \"noop\"",
        answers: after(8, [overflow(), overflow(), bash("pwd")]),
        ..Setup::default()
    })
    .await;
    play.commands(8).await;
    let reply = play.then(&output("result 8", 0)).await;
    let told = reply.condensed.unwrap();
    assert_eq!((told.from, told.to), (1, 6));
    assert_eq!(told.summary, None);
    let asked = play.asked();
    assert_eq!(asked.len(), 11);
    let lengths: Vec<usize> = asked[8..]
        .iter()
        .map(|body| body["messages"].as_array().unwrap().len())
        .collect();
    assert_eq!(lengths, [18, 10, 6]);
    assert!(asked[10].to_string().contains("not shown any more"));
    assert!(asked[10].to_string().contains("result 8"));
    // What was told once is not told again.
    assert_eq!(play.then(&output("/work", 0)).await.condensed, None);
}

#[tokio::test]
async fn one_that_stays_too_long_ends_the_turn_and_never_loops() {
    let mut play = Play::of(Setup {
        answers: after(30, [overflow()]),
        toml: "[condenser]\ntype = \"conversation_window\"",
        ..Setup::default()
    })
    .await;
    play.commands(30).await;
    play.asked();
    let error = play.fails(&output("x", 0)).await;
    let AgentError::Crashed(why) = error else {
        panic!("{error}")
    };
    assert!(why.contains("too long for the model"), "{why}");
    assert_eq!(play.asked().len(), 4);
}

#[tokio::test]
async fn with_nothing_to_forget_results_are_cut_further() {
    let mut play = Play::of(Setup {
        answers: after(1, [overflow(), bash("pwd")]),
        toml: "[condenser]\ntype = \"noop\"",
        ..Setup::default()
    })
    .await;
    play.first().await;
    play.then(&output(&"x".repeat(29_000), 0)).await;
    let asked = play.asked();
    let length = |n: usize| asked[n].to_string().len();
    assert!(
        length(1) > length(2) + 20_000,
        "{} {}",
        length(1),
        length(2)
    );
}

/// Much was said and the newest results are long as well: forgetting alone does not help.
#[tokio::test]
async fn what_forgetting_does_not_help_is_cut_and_later_results_are_whole_again() {
    let mut play = Play::of(Setup {
        answers: after(20, [overflow(), overflow(), overflow(), bash("pwd")]),
        toml: "[condenser]\ntype = \"noop\"",
        ..Setup::default()
    })
    .await;
    play.commands(19).await;
    play.then(&output(&"x".repeat(29_000), 0)).await;
    play.asked();
    play.then(&output(&"y".repeat(29_000), 0)).await;
    let asked = play.asked();
    let letters = |n: usize, letter: &str| asked[n].to_string().matches(letter).count();
    assert_eq!(asked.len(), 4);
    assert!(
        letters(1, "y") > 28_000,
        "first, only old steps are forgotten"
    );
    assert!((7_000..8_000).contains(&letters(2, "y")));
    assert!((1_800..2_000).contains(&letters(3, "y")));
    play.then(&output(&"z".repeat(29_000), 0)).await;
    let last = play.asked().pop().unwrap().to_string();
    assert!(last.matches('z').count() > 28_000);
    assert!(
        last.matches('y').count() < 2_000,
        "what did not fit stays cut"
    );
}

/// Whatever else is wrong with the answer.
#[tokio::test]
async fn what_was_forgotten_for_an_answer_that_is_none_is_told_too() {
    for bad in [
        json!({"text": ""}),
        json!({"fault": "bad_answer"}),
        json!({"tool_calls": [{"name": "fly", "input": {}}]}),
    ] {
        let mut play = Play::of(Setup {
            answers: after(8, [overflow(), bad.clone()]),
            model: "num_retries = 1",
            toml: "[condenser]\ntype = \"noop\"",
            ..Setup::default()
        })
        .await;
        play.commands(8).await;
        let answer = play.agent.act(&output("result 8", 0)).await.unwrap();
        let Answer::NotAnAction { condensed, .. } = answer else {
            panic!("{bad}: {answer:?}")
        };
        let told = condensed.unwrap();
        assert_eq!((told.from, told.to), (1, 4), "{bad}");
    }
}

#[tokio::test]
async fn truncation_can_be_switched_off() {
    let mut play = Play::of(Setup {
        answers: after(3, [overflow()]),
        toml: "[agent]\nenable_history_truncation = false",
        ..Setup::default()
    })
    .await;
    play.commands(3).await;
    play.asked();
    let error = play.fails(&output("x", 0)).await;
    assert!(matches!(error, AgentError::Crashed(_)), "{error}");
    assert_eq!(play.asked().len(), 1);
}

#[tokio::test]
async fn what_fits_not_is_made_shorter_before_it_is_asked() {
    let mut play = Play::of(Setup {
        answers: vec![bash("ls")],
        toml: "[condenser]\ntype = \"noop\"",
        model: "max_input_tokens = 4000",
        ..Setup::default()
    })
    .await;
    play.first().await;
    let mut told = Vec::new();
    for _ in 0..20 {
        told.extend(play.then(&output(&"y".repeat(2_000), 0)).await.condensed);
    }
    assert!(!told.is_empty());
    for pair in told.windows(2) {
        assert_eq!(pair[1].from, pair[0].to + 1, "{pair:?}");
    }
    for body in play.asked() {
        // Four characters of a token; JSON needs some more.
        assert!(body["messages"].to_string().len() < 4_000 * 5);
    }
}

#[tokio::test]
async fn failures_of_the_service_are_faults_and_spent_budgets_are_not() {
    let mut play = Play::says([json!({"fault": "authentication", "why": "no key"})]).await;
    let error = play.fails(&Observation::ready("")).await;
    assert!(
        matches!(&error, AgentError::Model(why) if why.contains("no key")),
        "{error}"
    );
    let mut play = Play::says([json!({"fault": "refusal"})]).await;
    let error = play.fails(&Observation::ready("")).await;
    assert!(matches!(error, AgentError::Crashed(_)), "{error}");
    let mut long = bash("ls");
    long["usage"] = json!({"input_tokens": 1_000_000, "output_tokens": 0});
    let mut play = Play::of(Setup {
        answers: vec![long],
        tokens: Some(1_000_000),
        ..Setup::default()
    })
    .await;
    play.first().await;
    let error = play.fails(&output("x", 0)).await;
    assert_eq!(error, AgentError::OutOfBudget(TurnEnd::TokenLimit));
}

#[tokio::test]
async fn an_answer_that_can_not_be_read_is_told_to_the_model() {
    let mut play = Play::of(Setup {
        model: "num_retries = 1",
        answers: vec![
            json!({"fault": "bad_answer", "why": "half a call"}),
            bash("ls"),
        ],
        ..Setup::default()
    })
    .await;
    let why = play.refused(&Observation::ready("")).await;
    assert!(why.contains("half a call"), "{why}");
    play.then(&Observation::refused(why)).await;
    assert!(play.shown()[2].to_string().contains("half a call"));
}
