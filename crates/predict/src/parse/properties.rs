//! What holds for every answer: what is written is read back, nothing panics, and time grows with length
//! alone.

use agon_core::prediction::{KeyAction, KeyActionName, MouseAction, MouseActionName, UiAction};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;

use super::answer::{self, parse};
use super::{point_of, to_python};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(".*", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |value| value.is_finite())
}

fn mouse() -> impl Strategy<Value = UiAction> {
    let name = prop_oneof![Just(MouseActionName::Click), Just(MouseActionName::Move)];
    let state = btree_map(".*", value(), 0..3);
    (
        name,
        finite(),
        finite(),
        any::<String>(),
        any::<bool>(),
        state,
    )
        .prop_map(
            |(name, mouse_x, mouse_y, mouse_button_name, mouse_pressed, state)| {
                UiAction::Mouse(MouseAction {
                    name,
                    mouse_x,
                    mouse_y,
                    mouse_button_name,
                    mouse_pressed,
                    element_state: state.into_iter().collect(),
                })
            },
        )
}

fn key() -> impl Strategy<Value = UiAction> {
    let name = prop_oneof![Just(KeyActionName::Press), Just(KeyActionName::Release)];
    (name, any::<String>()).prop_map(|(name, key_name)| UiAction::Key(KeyAction { name, key_name }))
}

fn actions() -> impl Strategy<Value = Vec<UiAction>> {
    vec(prop_oneof![mouse(), key()], 1..5)
}

/// Pieces that answers are made of, in any order.
fn jumble() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "'name': 'click', ",
        "'mouse_x': 1,",
        "\"mouse_y\": -2.5e1,",
        "MouseAction(",
        "x=",
        "'''",
        "\\u12",
        "<point>",
        "<point x=\"",
        "<|box_start|>",
        "<think>",
        "</think>",
        "#",
        "\"point_2d\":[1,",
        "2",
        ",",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => ".{0,3}",
        1 => any::<f64>().prop_map(|number| number.to_string()),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_as_json_is_read_back(actions in actions()) {
        let text = serde_json::to_string(&actions).unwrap();
        prop_assert_eq!(&parse(&text).unwrap(), &actions);
        let pretty = serde_json::to_string_pretty(&actions).unwrap();
        prop_assert_eq!(parse(&format!("actions:\n```json\n{pretty}\n```")).unwrap(), actions);
    }

    #[test]
    fn what_is_written_as_python_is_read_back(actions in actions()) {
        let text = to_python(&serde_json::to_value(&actions).unwrap());
        prop_assert_eq!(&parse(&text).unwrap(), &actions);
        prop_assert_eq!(parse(&format!("active_action_dict={text}")).unwrap(), actions);
    }

    #[test]
    fn rows_of_actions_are_read_back(actions in actions()) {
        let rows: String = actions
            .iter()
            .map(|action| serde_json::to_string(action).unwrap() + "\n")
            .collect();
        prop_assert_eq!(parse(&rows).unwrap(), actions);
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = (parse(&text), point_of(&text));
    }

    #[test]
    fn no_jumble_panics_and_time_is_linear(text in jumble()) {
        let _ = (parse(&text), point_of(&text));
        prop_assert!(answer::steps(&text) <= 36 * text.len() + 5_000);
    }

    #[test]
    fn a_cut_answer_gives_no_more_than_the_whole(actions in actions(), share in 0.0..1.0f64) {
        let text = to_python(&serde_json::to_value(&actions).unwrap());
        let mut end = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if let Ok(read) = parse(&text[..end]) {
            prop_assert!(read.len() <= actions.len());
        }
    }
}
