//! Attempts that were played in real time.

use serde_json::json;

use super::fixture::{Shelf, blob, key, line, screen};
use crate::trial::{head, steps, track};

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
    // It answers none of the frames: nobody was given them.
    assert_eq!(track.actions, [(0.25, 1, None)]);
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

#[test]
fn an_action_is_as_late_as_what_it_answers_is_old() {
    let mut shelf = Shelf::new();
    let first = shelf.seen(99, "one"); // 0
    frame(&mut shelf, "two"); // 0.125
    let left = json!({"action": "key", "keys": "Left"});
    let acted = shelf.event("agent", "action", Some(first), left.clone()); // 0.25
    shelf.seen(acted, "three"); // 0.375
    frame(&mut shelf, "four"); // 0.5
    // Still the first; then without saying what; then something that was no observation.
    shelf.event("agent", "action", Some(first), left.clone()); // 0.625
    shelf.agent("action", left.clone()); // 0.75
    shelf.event("agent", "action", Some(acted), left); // 0.875
    let track = track(&shelf.ended(0), &key()).unwrap();
    assert_eq!(
        track.actions,
        [
            (0.25, 1, Some(0.25)),
            (0.625, 2, Some(0.625)),
            (0.75, 3, Some(0.375)),
            (0.875, 4, None),
        ]
    );
}

/// A player that plays by itself, which tells of its steps now and then.
fn played(shelf: &mut Shelf) {
    frame(shelf, "one"); // 0
    let told = json!({"steps": 30, "actions": 2, "answers": [
        {"t": 0.11, "latency": 0.0125}, {"t": 0.05, "latency": -1},
    ]});
    shelf.agent("reacted", told); // 0.125
    frame(shelf, "two"); // 0.25
    let told = json!({"steps": 60, "actions": 3, "answers": [{"t": 0.3, "latency": 0.004}]});
    shelf.agent("reacted", told); // 0.375
}

#[test]
fn what_a_player_does_by_itself_lies_on_the_axis_and_is_no_step_of_its_own() {
    let mut shelf = Shelf::new();
    played(&mut shelf);
    shelf.write();
    let run = shelf.run();
    let track = track(&run, &key()).unwrap();
    assert_eq!(track.answers, [(0.05, 0.0), (0.11, 0.0125), (0.3, 0.004)]);
    assert_eq!((track.actions.len(), track.omitted), (0, 0));
    assert_eq!(steps(&run, &key(), 0, 10).unwrap().total, 2);
    // What it has done so far.
    let shown = head(&run, &key()).unwrap();
    assert_eq!((shown.steps, shown.acted), (60, 0));
    assert!(shown.realtime);
}

#[test]
fn steps_of_an_attempt_that_has_ended_are_those_of_its_line() {
    let mut shelf = Shelf::new();
    played(&mut shelf);
    let shown = head(&shelf.ended(0), &key()).unwrap();
    assert_eq!((shown.steps, shown.acted), (line().steps, 0));
}

#[test]
fn answers_are_bounded_and_those_that_are_none_are_counted() {
    let mut shelf = Shelf::new();
    let answers = |count| json!(vec![json!({"t": 1, "latency": 0.5}); count]);
    for _ in 0..51 {
        let told = json!({"steps": 1, "actions": 1, "answers": answers(4000)});
        shelf.agent("reacted", told);
    }
    // More than is ever told at once, and what is no answer.
    for told in [answers(30_000), json!("soon"), json!([{"t": "now"}])] {
        let told = json!({"steps": u64::MAX, "actions": 1, "answers": told});
        shelf.agent("reacted", told);
    }
    shelf.write();
    let run = shelf.run();
    let track = track(&run, &key()).unwrap();
    assert_eq!((track.answers.len(), track.omitted), (200_000, 4003));
    assert_eq!(head(&run, &key()).unwrap().steps, u32::MAX);
}
