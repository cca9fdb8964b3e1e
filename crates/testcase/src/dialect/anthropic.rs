//! Anthropic's computer tool, all versions: `{"action": "left_click", "coordinate": [10, 20]}`. Points are in
//! the frame's grid.

use agon_core::Action;
use agon_core::action::{Button, Point};
use serde_json::{Value, json};

use super::chord::held;
use super::frame::Frame;
use super::given::{Given, apart};
use super::own;

/// From the tool's input.
pub fn read(input: &Value, frame: &Frame) -> Result<Vec<Action>, String> {
    let given = Given::of(input);
    let action = given.words(&["action"])?;
    let point = || {
        let given = given.point(&["coordinate"], frame)?;
        Ok::<_, String>(given.unwrap_or_else(|| frame.cursor()))
    };
    let click = |button, count| {
        let Point { x, y } = point()?;
        let click = Action::Click {
            x,
            y,
            button,
            count,
            hold: None,
        };
        Ok(held(modifiers(given), click))
    };
    match action.as_str() {
        "key" => Ok(vec![Action::Key {
            keys: given.keys(&["text", "key", "keys"])?,
            hold: None,
        }]),
        "hold_key" => {
            let keys = apart(&given.keys(&["text", "key"])?);
            let seconds = given.seconds(&["duration"], 1.0)?;
            Ok(held(keys, Action::Wait { seconds }))
        }
        "type" if given.get(&["text"]).is_some() => Ok(vec![Action::Type {
            text: given.words(&["text"])?,
        }]),
        "mouse_move" => {
            let Point { x, y } = given.must_point(&["coordinate"], frame)?;
            Ok(vec![Action::Move { x, y }])
        }
        "left_click" => click(Button::Left, 1),
        "right_click" => click(Button::Right, 1),
        "middle_click" => click(Button::Middle, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "left_click_drag" => {
            let from = given.get(&["start_coordinate"]);
            let from = from
                .map(|_| {
                    let start = json!({ "at": from });
                    Given::of(&start).must_point(&["at"], frame)
                })
                .transpose()?;
            let drag = Action::Drag {
                path: vec![
                    from.unwrap_or_else(|| frame.cursor()),
                    given.must_point(&["coordinate"], frame)?,
                ],
                button: Button::Left,
                seconds: None,
            };
            Ok(held(modifiers(given), drag))
        }
        "scroll" if given.get(&["scroll_direction"]).is_some() => {
            let Point { x, y } = point()?;
            let amount = given.notches(&["scroll_amount"], Some(3.0), 1.0)?;
            let (dx, dy) = match given.words(&["scroll_direction"])?.as_str() {
                "up" => (0, -amount),
                "down" => (0, amount),
                "left" => (-amount, 0),
                "right" => (amount, 0),
                other => {
                    return Err(format!(
                        "`{other}` is no direction: up, down, left or right"
                    ));
                }
            };
            Ok(held(modifiers(given), Action::Scroll { x, y, dx, dy }))
        }
        "wait" if given.get(&["duration"]).is_some() => Ok(vec![Action::Wait {
            seconds: given.seconds(&["duration"], 1.0)?,
        }]),
        // The pointer's place is told with every picture.
        "screenshot" | "cursor_position" => Ok(vec![Action::Screenshot]),
        "left_mouse_down" | "left_mouse_up" => Err(
            "the button can't be held on its own: use left_click_drag with start_coordinate"
                .to_owned(),
        ),
        "zoom" => {
            Err("there is no zoom here: the screen is shown as large as it can be".to_owned())
        }
        // A service without the tool of its own was given the function.
        _ => own::read(input, frame).map(|action| vec![action]),
    }
}

/// Keys that are held meanwhile, in `text`.
fn modifiers(given: Given<'_>) -> Vec<String> {
    let text = given.text(&["text"]).filter(|text| !text.is_empty());
    text.map_or_else(Vec::new, |text| apart(&text))
}

/// What the tool would have been given; `None`: it has no words for it.
pub fn write(action: &Action, frame: &Frame) -> Option<Value> {
    let shown = |x: i32, y: i32| {
        let (x, y) = frame.shown(Point { x, y });
        json!([x, y])
    };
    let value = match action {
        Action::Click {
            x,
            y,
            button,
            count,
            ..
        } => {
            let name = match (button, count) {
                (Button::Left, 1) => "left_click",
                (Button::Right, 1) => "right_click",
                (Button::Middle, 1) => "middle_click",
                (Button::Left, 2) => "double_click",
                (Button::Left, 3) => "triple_click",
                _ => return None,
            };
            json!({"action": name, "coordinate": shown(*x, *y)})
        }
        Action::Move { x, y } => json!({"action": "mouse_move", "coordinate": shown(*x, *y)}),
        Action::Scroll { x, y, dx, dy } => {
            let (direction, amount) = match (*dx, *dy) {
                (0, dy) if dy > 0 => ("down", dy),
                (0, dy) if dy < 0 => ("up", dy.checked_neg()?),
                (dx, 0) if dx > 0 => ("right", dx),
                (dx, 0) if dx < 0 => ("left", dx.checked_neg()?),
                _ => return None,
            };
            json!({"action": "scroll", "coordinate": shown(*x, *y),
                "scroll_direction": direction, "scroll_amount": amount})
        }
        Action::Drag {
            path,
            button: Button::Left,
            seconds: None,
        } => {
            let [from, to] = path.as_slice() else {
                return None;
            };
            json!({"action": "left_click_drag", "start_coordinate": shown(from.x, from.y),
                "coordinate": shown(to.x, to.y)})
        }
        Action::Type { text } => json!({"action": "type", "text": text}),
        Action::Key { keys, .. } => json!({"action": "key", "text": keys}),
        Action::Wait { seconds } => json!({"action": "wait", "duration": seconds}),
        Action::Screenshot => json!({"action": "screenshot"}),
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use agon_core::ActionKind as K;
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::samples::{actions, frame};

    proptest! {
        #[test]
        fn what_is_written_is_read_back(action in actions()) {
            if let Some(input) = write(&action, &frame()) {
                prop_assert_eq!(read(&input, &frame()), Ok(vec![action]));
            }
        }
    }

    #[test]
    fn all_versions_of_the_tool() {
        let kinds = |input: Value| -> Vec<K> {
            let actions = read(&input, &frame()).unwrap();
            actions.iter().map(Action::kind).collect()
        };
        assert_eq!(kinds(json!({"action": "left_click"})), [K::Click]);
        assert_eq!(
            kinds(json!({"action": "left_click", "coordinate": [1, 2], "text": "ctrl+shift"})),
            [K::KeyDown, K::KeyDown, K::Click, K::KeyUp, K::KeyUp]
        );
        assert_eq!(
            kinds(json!({"action": "hold_key", "text": "shift", "duration": 0.5})),
            [K::KeyDown, K::Wait, K::KeyUp]
        );
        assert_eq!(kinds(json!({"action": "cursor_position"})), [K::Screenshot]);
        assert_eq!(
            kinds(json!({"action": "click", "x": 1, "y": 2})),
            [K::Click]
        );
        // Before versions knew where a drag begins, it was where the pointer is.
        assert_eq!(
            read(
                &json!({"action": "left_click_drag", "coordinate": [50, 60]}),
                &frame()
            )
            .unwrap(),
            [Action::Drag {
                path: vec![Point { x: 7, y: 9 }, Point { x: 50, y: 60 }],
                button: Button::Left,
                seconds: None
            }]
        );
    }

    #[test]
    fn what_can_not_be_done_is_said() {
        for (input, word) in [
            (json!({"action": "left_mouse_down"}), "left_click_drag"),
            (json!({"action": "zoom", "region": [0, 0, 1, 1]}), "no zoom"),
            (
                json!({"action": "scroll", "coordinate": [1, 1], "scroll_direction": "in"}),
                "no direction",
            ),
            (json!({"action": "mouse_move"}), "point is missing"),
            (json!({"action": "left_click", "coordinate": [1]}), "[x, y]"),
            (json!({"coordinate": [1, 2]}), "`action` is missing"),
        ] {
            let why = read(&input, &frame()).unwrap_err();
            assert!(why.contains(word), "{input}: {why}");
        }
    }
}
