//! What models are shown, and where their points lie.

use std::sync::Arc;

use agon_core::Action;
use agon_llm::Wire;
use serde_json::{Value, json};

use super::play::{Play, Setup, model, screen};
use crate::agents::kinds::Named;
use crate::agents::manner::Manner;
use crate::agents::options::Options;
use crate::agents::qwen::Qwen;
use crate::agents::react::React;
use crate::agents::sight::{Grid, Sight, Sizing};

fn options(text: &str) -> Options {
    Options::parse(text).unwrap()
}

fn click(x: f64, y: f64) -> Value {
    json!(format!(
        r#"{{"tool": {{"name": "click", "parameters": {{"x": {x}, "y": {y}}}}}}}"#
    ))
}

fn place(action: &Action) -> (i32, i32) {
    match action {
        Action::Click { x, y, .. } => (*x, *y),
        other => panic!("no click: {other:?}"),
    }
}

/// Pictures in a body, by where their message stands.
fn pictures(body: &Value) -> Vec<usize> {
    let messages = body["messages"].as_array().unwrap().iter().enumerate();
    let shown = messages.filter(|(_, message)| message.to_string().contains("image_url"));
    shown.map(|(nth, _)| nth).collect()
}

#[tokio::test]
async fn points_of_a_smaller_picture_land_where_they_should() {
    let setup = Setup {
        answers: vec![
            click(480.0, 270.0),
            click(959.0, 539.0),
            click(960.0, 540.0),
            click(961.0, 0.0),
        ],
        ..Setup::default()
    };
    let manner = Arc::new(React::new(options("side=960")).unwrap());
    let mut play = Play::of(manner, setup).await;
    assert_eq!(place(&play.does(&screen(1920, 1080, 1)).await), (961, 541));
    assert_eq!(
        place(&play.does(&screen(1920, 1080, 2)).await),
        (1919, 1079)
    );
    assert_eq!(
        place(&play.does(&screen(1920, 1080, 3)).await),
        (1919, 1079)
    );
    let (_, why) = play.refused(&screen(1920, 1080, 4)).await;
    assert!(why.contains("x goes from 0 to 959"), "{why}");
    let asked = play.asked();
    assert!(asked[0].to_string().contains("960 x 540 pixels"));
    assert!(asked[0].to_string().contains("pointer is at (2, 3)"));
}

#[tokio::test]
async fn only_the_newest_pictures_are_sent() {
    for (text, newest) in [("", vec![5]), ("pictures=2", vec![3, 5])] {
        let setup = Setup {
            answers: vec![click(1.0, 1.0)],
            ..Setup::default()
        };
        let manner = Arc::new(React::new(options(text)).unwrap());
        let mut play = Play::of(manner, setup).await;
        for shade in 1..=3 {
            play.does(&screen(64, 64, shade)).await;
        }
        let last = play.asked().pop().unwrap();
        assert_eq!(pictures(&last), newest, "{text}");
        assert!(last["messages"][1].to_string().contains("left out"));
    }
}

#[tokio::test]
async fn only_the_newest_answers_are_sent_and_the_rest_is_told() {
    let setup = Setup {
        answers: vec![click(1.0, 1.0)],
        ..Setup::default()
    };
    let manner = Arc::new(React::new(options("answers=1")).unwrap());
    let mut play = Play::of(manner, setup).await;
    let mut forgotten = Vec::new();
    for shade in 1..=4 {
        let reply = Play::reply(play.act(&screen(64, 64, shade)).await);
        forgotten.extend(reply.condensed.map(|gone| (gone.from, gone.to)));
    }
    assert_eq!(forgotten, [(1, 1), (2, 2)]);
    let last = play.asked().pop().unwrap();
    assert_eq!(last["messages"].as_array().unwrap().len(), 4);
    assert!(
        last["messages"][1]
            .to_string()
            .contains("not shown any more")
    );
}

async fn sight(width: u32, height: u32, sizing: Sizing) -> Sight {
    let seen = screen(width, height, 7);
    Sight::of(&seen.screen.unwrap(), sizing, None)
        .await
        .unwrap()
}

fn qwen(name: &str) -> Sizing {
    let folder = tempfile::tempdir().unwrap();
    let text =
        format!("model = \"openai/{name}\"\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"k\"");
    let model = model(folder.path(), &text);
    assert_eq!(model.spec().wire, Wire::Chat);
    Qwen::new(Options::default()).unwrap().sizing(model.spec())
}

/// The sizes that the models' own `smart_resize` gives for the picture that is sent.
#[tokio::test]
async fn older_qwen_models_count_in_multiples_of_28() {
    let sizing = qwen("qwen2.5-vl-72b-instruct");
    assert_eq!(sizing.grid, Grid::Multiples(28));
    for ((width, height), sent, counted) in [
        ((1920, 1080), (1316, 740), (1316, 728)),
        ((1024, 768), (1024, 768), (1036, 756)),
        ((560, 280), (560, 280), (560, 280)),
    ] {
        let sight = sight(width, height, sizing).await;
        let image = agon_llm::picture::look(&sight.image().bytes).unwrap();
        assert_eq!((image.1, image.2), sent);
        assert_eq!(sight.frame().size(), counted);
        let (w, h) = counted;
        let last = sight.frame().point(f64::from(w), f64::from(h)).unwrap();
        assert_eq!((last.x as u32, last.y as u32), (width - 1, height - 1));
    }
}

#[tokio::test]
async fn newer_qwen_models_count_to_1000() {
    let sizing = qwen("Qwen3-VL-30B-A3B-Instruct");
    assert_eq!(sizing.grid, Grid::Relative(1000));
    let sight = sight(1920, 1080, sizing).await;
    assert_eq!(sight.frame().size(), (1000, 1000));
    let middle = sight.frame().point(500.0, 500.0).unwrap();
    assert_eq!((middle.x, middle.y), (960, 540));
}

#[tokio::test]
async fn a_screen_that_did_not_change_is_not_fitted_again() {
    let sizing = Sizing {
        grid: Grid::Pixels,
        limits: agon_llm::picture::Limits {
            long: 32,
            ..agon_llm::picture::Limits::NONE
        },
    };
    let seen = screen(64, 64, 7).screen.unwrap();
    let first = Sight::of(&seen, sizing, None).await.unwrap();
    let mut moved = seen.clone();
    moved.cursor = None;
    let second = Sight::of(&moved, sizing, Some(&first)).await.unwrap();
    assert!(Arc::ptr_eq(&first.image().bytes, &second.image().bytes));
    assert_eq!(second.frame().pointer(), None);
}
