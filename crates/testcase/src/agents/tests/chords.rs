//! A call that is several actions: keys that are held while something else is done.

use std::sync::Arc;

use agon_core::{Action, Observation};
use agon_llm::{ModelSpec, Part, Reply};
use serde_json::{Value, json};

use super::play::{Play, Setup, screen};
use crate::agents::manner::{Done, Manner, Reading, Scene, What, Wish};
use crate::agents::plain;
use crate::agents::sight::{Sight, Sizing};
use crate::dialect::Frame;

/// Holds a key, looks, and lets it go, whatever it is told.
#[derive(Debug)]
struct Holding;

fn key() -> String {
    "shift".to_owned()
}

impl Manner for Holding {
    fn identity(&self) -> String {
        "holding".to_owned()
    }

    fn sizing(&self, model: &ModelSpec) -> Sizing {
        Sizing::of(model)
    }

    fn window(&self) -> usize {
        1
    }

    fn system(&self, _: &Scene<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    fn opening(&self, scene: &Scene<'_>, sight: &Sight) -> Vec<Part> {
        plain::opening(scene, sight)
    }

    fn read(&self, reply: &Reply) -> Reading {
        let wish = Wish {
            text: reply.text(),
            what: What::Call(Value::Null),
            call: None,
        };
        Reading {
            thought: None,
            wishes: vec![wish],
        }
    }

    fn actions(&self, _: &Value, _: &Frame) -> Result<Vec<Action>, String> {
        Ok(vec![
            Action::KeyDown { key: key() },
            Action::Screenshot,
            Action::KeyUp { key: key() },
        ])
    }

    fn told(&self, done: &[Done]) -> Vec<Part> {
        plain::told(done)
    }
}

async fn play() -> Play {
    let setup = Setup {
        answers: vec![json!("hold")],
        ..Setup::default()
    };
    Play::of(Arc::new(Holding), setup).await
}

#[tokio::test]
async fn one_call_is_as_many_steps_as_it_has_actions() {
    let mut play = play().await;
    let mut did = Vec::new();
    for shade in 1..=4 {
        did.push(play.does(&screen(64, 64, shade)).await);
    }
    let down = Action::KeyDown { key: key() };
    let up = Action::KeyUp { key: key() };
    assert_eq!(did, [down.clone(), Action::Screenshot, up, down]);
    assert_eq!(play.asked().len(), 2);
}

#[tokio::test]
async fn what_was_to_be_done_with_a_key_that_is_none_is_left_out_and_the_key_comes_up() {
    let mut play = play().await;
    play.does(&screen(64, 64, 1)).await;
    let next = play.does(&Observation::error("no such key")).await;
    assert_eq!(next, Action::KeyUp { key: key() });
    play.does(&screen(64, 64, 2)).await;
    let told = play.asked().pop().unwrap()["messages"].to_string();
    assert!(told.contains("This was not done: no such key"), "{told}");
}
