//! What the arguments of `computer_use` mean, and that they come back.

use agon_llm::picture::Mapping;
use proptest::prelude::*;

use super::super::samples::{actions, frame};
use super::*;

fn of(arguments: Value) -> Result<Action, String> {
    read(&arguments, &frame())
}

#[test]
fn qwens_own_forms_are_read() {
    let click = |x, y, button, count| Action::Click {
        x,
        y,
        button,
        count,
        hold: None,
    };
    let scroll = |x, y, dx, dy| Action::Scroll { x, y, dx, dy };
    for (arguments, action) in [
        (
            json!({"action": "left_click", "coordinate": [4, 5]}),
            click(4, 5, Button::Left, 1),
        ),
        (
            json!({"action": "right_click", "coordinate": [4, 5]}),
            click(4, 5, Button::Right, 1),
        ),
        (
            json!({"action": "triple_click", "coordinate": [4, 5]}),
            click(4, 5, Button::Left, 3),
        ),
        (
            json!({"action": "left_click"}),
            click(7, 9, Button::Left, 1),
        ),
        (
            json!({"action": "key", "keys": ["ctrl", "c"]}),
            Action::Key {
                keys: "ctrl+c".to_owned(),
                hold: None,
            },
        ),
        (
            json!({"action": "scroll", "pixels": -500}),
            scroll(7, 9, 0, 10),
        ),
        (
            json!({"action": "scroll", "pixels": 10, "coordinate": [4, 5]}),
            scroll(4, 5, 0, -1),
        ),
        (
            json!({"action": "hscroll", "pixels": 100}),
            scroll(7, 9, 2, 0),
        ),
        (
            json!({"action": "terminate", "status": "success", "text": "42"}),
            Action::Finish {
                result: Some("42".to_owned()),
            },
        ),
        (
            json!({"action": "terminate", "status": "failure", "text": "no"}),
            Action::Finish {
                result: Some("Status: failure\nno".to_owned()),
            },
        ),
        (
            json!({"action": "left_click_drag", "coordinate": [4, 5]}),
            Action::Drag {
                path: vec![Point { x: 7, y: 9 }, Point { x: 4, y: 5 }],
                button: Button::Left,
                seconds: None,
            },
        ),
    ] {
        assert_eq!(of(arguments.clone()), Ok(action), "{arguments}");
    }
}

#[test]
fn what_is_no_action_is_said() {
    for (arguments, word) in [
        (json!({}), "`action` is missing"),
        (json!("left_click"), "`action` is missing"),
        (json!({"action": "fly"}), "`fly` is no action"),
        (json!({"action": "mouse_move"}), "the point is missing"),
        (
            json!({"action": "left_click", "coordinate": [4, 801]}),
            "not on the screen",
        ),
        (json!({"action": "scroll"}), "`pixels` is missing"),
        (json!({"action": "answer"}), "`text` is missing"),
    ] {
        let why = of(arguments.clone()).unwrap_err();
        assert!(why.contains(word), "{arguments}: {why}");
    }
}

#[test]
fn points_are_counted_in_the_models_own_grid() {
    let relative = Frame::new(Mapping::between((1920, 1080), (1000, 1000)), None);
    let corner = json!({"action": "left_click", "coordinate": [1000, 1000]});
    let Ok(Action::Click { x, y, .. }) = read(&corner, &relative) else {
        panic!("no click");
    };
    assert_eq!((x, y), (1919, 1079));
}

#[test]
fn every_offer_is_an_action_of_its_kind() {
    for offer in OFFERS {
        let arguments = json!({
            "action": offer.name, "coordinate": [1, 2], "text": "a", "keys": ["a"], "pixels": 5,
        });
        assert_eq!(of(arguments).unwrap().kind(), offer.kind, "{offer:?}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(action in actions()) {
        if let Some(arguments) = write(&action, &frame()) {
            prop_assert_eq!(read(&arguments, &frame()), Ok(action));
        } else {
            let rare = matches!(
                action,
                Action::Drag { .. } | Action::Scroll { .. } | Action::Click { .. } | Action::Think { .. }
            );
            prop_assert!(rare, "{:?}", action);
        }
    }
}
