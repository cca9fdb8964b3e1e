//! What answers of models come to: actions, refusals, several at once.

use std::sync::Arc;

use agon_core::action::Button;
use agon_core::{Action, ActionKind, Observation};
use serde_json::{Value, json};

use super::play::{Play, Setup, known, screen};
use crate::agents::kinds::Named;
use crate::agents::options::Options;
use crate::agents::qwen::Qwen;
use crate::agents::react::React;

fn react(options: &str) -> Arc<React> {
    Arc::new(React::new(Options::parse(options).unwrap()).unwrap())
}

fn qwen(options: &str) -> Arc<Qwen> {
    Arc::new(Qwen::new(Options::parse(options).unwrap()).unwrap())
}

fn step(name: &str, parameters: &Value) -> Value {
    let call = json!({"name": name, "parameters": parameters});
    json!(json!({"observation": "a door", "plan": "open it", "tool": call}).to_string())
}

fn called(arguments: &[Value]) -> Value {
    let mut text = "I see a door.".to_owned();
    for arguments in arguments {
        let call = json!({"name": "computer_use", "arguments": arguments});
        text.push_str(&format!("\n<tool_call>\n{call}\n</tool_call>"));
    }
    json!(text)
}

fn click(x: i32, y: i32) -> Action {
    Action::Click {
        x,
        y,
        button: Button::Left,
        count: 1,
        hold: None,
    }
}

#[tokio::test]
async fn a_step_is_an_action_with_its_thought() {
    let answers = vec![
        step("click", &json!({"x": 10, "y": 20})),
        step("result", &json!({"value": "open"})),
    ];
    let setup = Setup {
        answers,
        ..Setup::default()
    };
    let mut play = Play::of(react(""), setup).await;
    let reply = Play::reply(play.act(&screen(1280, 800, 1)).await);
    assert_eq!(reply.action, click(10, 20));
    assert_eq!(reply.thought.as_deref(), Some("a door\nopen it"));
    assert_eq!(reply.usage, None, "the account knows it");
    let asked = play.asked();
    let system = asked[0]["messages"][0].to_string();
    assert!(system.contains("1280 x 800 pixels"), "{system}");
    assert!(system.contains("20 actions at most"), "{system}");
    assert!(!system.contains("exec"), "{system}");
    let schema = asked[0]["response_format"].to_string();
    assert!(
        schema.contains("hot_key") && !schema.contains("exec"),
        "{schema}"
    );
    let opening = asked[0]["messages"][1].to_string();
    assert!(opening.contains("Open the door."), "{opening}");
    assert!(opening.contains("pointer is at (5, 6)"), "{opening}");
    let done = play.does(&screen(1280, 800, 2)).await;
    let result = Some("open".to_owned());
    assert_eq!(done, Action::Finish { result });
}

#[tokio::test]
async fn shell_use_is_refused_told_and_the_turn_goes_on() {
    let exec = step("exec", &json!({"command": "rm door"}));
    let setup = Setup {
        answers: vec![exec.clone(), step("wait", &json!({"seconds": 1}))],
        ..Setup::default()
    };
    let mut play = Play::of(react(""), setup).await;
    let (text, why) = play.refused(&screen(1280, 800, 1)).await;
    assert!(text.contains("rm door"), "{text}");
    assert!(why.contains("commands can't be run"), "{why}");
    // What is refused has no screen of its own.
    let next = play.does(&Observation::refused(why)).await;
    assert_eq!(next.kind(), ActionKind::Wait);
    let told = play.asked().pop().unwrap()["messages"].to_string();
    assert!(
        told.contains("This was not done: commands can't be run"),
        "{told}"
    );

    let setup = Setup {
        answers: vec![exec],
        also: &[ActionKind::Run],
        ..Setup::default()
    };
    let mut play = Play::of(react(""), setup).await;
    assert_eq!(
        play.does(&screen(1280, 800, 1)).await,
        Action::run("rm door")
    );
    let asked = play.asked().pop().unwrap().to_string();
    assert!(asked.contains("exec(command)"), "{asked}");
}

#[tokio::test]
async fn an_answer_without_an_action_costs_a_step_and_is_told() {
    let setup = Setup {
        answers: vec![
            json!("I would rather not."),
            step("click", &json!({"x": 5000, "y": 20})),
            step("take_screenshot", &json!({})),
        ],
        ..Setup::default()
    };
    let mut play = Play::of(react(""), setup).await;
    let (text, why) = play.refused(&screen(1280, 800, 1)).await;
    assert!(why.contains("holds no action"), "{why}");
    assert_eq!(text, "I would rather not.", "its words are recorded");
    let (_, why) = play.refused(&Observation::refused(why)).await;
    assert!(why.contains("not on the screen"), "{why}");
    let looked = play.does(&Observation::refused(why)).await;
    assert_eq!(looked, Action::Screenshot);
    let messages = play.asked().pop().unwrap()["messages"].clone();
    let messages = messages.as_array().unwrap().clone();
    assert_eq!(messages.len(), 6);
    assert!(messages[2].to_string().contains("rather not"));
    assert!(messages[5].to_string().contains("not on the screen"));
}

#[tokio::test]
async fn several_calls_of_one_answer_are_steps_of_their_own() {
    let setup = Setup {
        answers: vec![
            called(&[
                json!({"action": "left_click", "coordinate": [0, 0]}),
                json!({"action": "fly"}),
                json!({"action": "type", "text": "hello"}),
            ]),
            called(&[json!({"action": "terminate", "status": "success"})]),
        ],
        ..Setup::default()
    };
    let mut play = Play::of(qwen(""), setup).await;
    let first = Play::reply(play.act(&screen(560, 280, 1)).await);
    assert_eq!(first.action, click(0, 0));
    assert_eq!(first.thought.as_deref(), Some("I see a door."));
    let (_, why) = play.refused(&screen(560, 280, 2)).await;
    assert!(why.contains("`fly` is no action"), "{why}");
    let reply = Play::reply(play.act(&Observation::refused(why)).await);
    let text = "hello".to_owned();
    assert_eq!(reply.action, Action::Type { text });
    assert_eq!(reply.thought, None, "thought once");
    assert_eq!(play.asked().len(), 1);
    let mut failed = screen(560, 280, 3);
    failed.kind = agon_core::observation::ObservationKind::Error;
    failed.text = "no focus".to_owned();
    let end = play.does(&failed).await;
    let result = Some("I see a door.".to_owned());
    assert_eq!(end, Action::Finish { result });
    let told = play.asked()[0]["messages"][3].to_string();
    let expected = "Done.\\nThis was not done: `fly` is no action\\nThis was not done: no focus";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn names_and_options_are_known() {
    for spec in [
        "react",
        "react:pictures=2,side=900",
        "react:my.j2",
        "qwen",
        "qwen:answers=5",
    ] {
        assert_eq!(known(spec).unwrap().to_string(), spec);
    }
    for spec in ["react:pictures=none", "qwen:speed=2", "reakt"] {
        assert!(known(spec).is_err(), "{spec}");
    }
}
