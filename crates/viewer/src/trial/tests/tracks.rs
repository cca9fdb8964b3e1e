//! Attempts that were played in real time.

use serde_json::json;

use super::fixture::{Shelf, blob, key, screen};
use crate::trial::{head, track};

fn frame(shelf: &mut Shelf, picture: &str) {
    let body = json!({"what": "frame", "screen": screen(picture)});
    shelf.event("environment", "screen", None, body);
}

#[test]
fn frames_input_and_actions_lie_on_one_axis() {
    let mut shelf = Shelf::new();
    frame(&mut shelf, "one"); // 0
    frame(&mut shelf, "two"); // 0.125
    shelf.agent("action", json!({"action": "key", "keys": "Left"})); // 0.25
    let input = json!([
        {"t": 0.26, "kind": "key_press", "key": "Left", "vk": 37},
        {"t": 0.27, "kind": "button_press", "button": 1, "x": 5, "y": 6},
        {"t": 0.21, "kind": "motion", "x": 5, "y": 6},
        {"t": 0.28, "kind": "scroll", "x": 5, "y": 6, "dx": 0, "dy": -3},
    ]);
    shelf.event("environment", "input", None, input); // 0.375
    frame(&mut shelf, "one"); // 0.5
    let look = json!({"test": "over", "holds": true, "found": "x", "value": 7.5, "picture": {}});
    shelf.event("harness", "look", None, look); // 0.625
    shelf.event("harness", "play", None, json!({"played": 1.5}));
    let run = shelf.ended(0);
    let track = track(&run, &key()).unwrap();
    let blobs: Vec<String> = ["one", "two"].into_iter().filter_map(blob).collect();
    assert_eq!(track.blobs, blobs);
    assert_eq!(track.frames, [(0.0, 0), (0.125, 1), (0.5, 0)]);
    assert_eq!(track.actions, [(0.25, 1, Some(0.125))]);
    let inputs: Vec<_> = track
        .inputs
        .iter()
        .map(|(t, kind, what)| (*t, kind.as_str(), what.as_str()))
        .collect();
    assert_eq!(
        inputs,
        [
            (0.21, "motion", "5,6"),
            (0.26, "key_press", "Left"),
            (0.27, "button_press", "1"),
            (0.28, "scroll", "0,-3"),
        ]
    );
    assert_eq!(track.looks, [(0.625, "over".to_owned(), true, Some(7.5))]);
    assert_eq!(track.play, Some(json!({"played": 1.5})));
    assert_eq!((track.duration, track.omitted), (0.75, 0));
    assert!(head(&run, &key()).unwrap().realtime);
}

#[test]
fn what_is_too_much_is_left_out_and_counted() {
    let mut shelf = Shelf::new();
    let motion = json!({"t": 1, "kind": "motion", "x": 1, "y": 1});
    for _ in 0..201 {
        shelf.event(
            "environment",
            "input",
            None,
            json!(vec![motion.clone(); 1000]),
        );
    }
    // More than is ever reported at once.
    shelf.event("environment", "input", None, json!(vec![motion; 20_000]));
    frame(&mut shelf, "one");
    let track = track(&shelf.ended(0), &key()).unwrap();
    assert_eq!((track.inputs.len(), track.omitted), (200_000, 1002));
}
