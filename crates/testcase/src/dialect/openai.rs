//! OpenAI's computer tool: `{"type": "click", "button": "left", "x": 10, "y": 20}`, one action per call or
//! several in `actions`. Points are in the frame's grid.

use agon_core::Action;
use agon_core::action::{Button, Point};
use serde_json::{Value, json};

use super::chord::held;
use super::frame::Frame;
use super::given::{Given, apart};
use super::own;

/// Pixels of a scroll that are one notch of a wheel.
pub const PIXELS_PER_NOTCH: i32 = super::qwen::PIXELS_PER_NOTCH;

/// More actions in one call are no plan any more.
const MOST: usize = 50;

/// From what a call holds: an action, or several in `actions`.
pub fn read(call: &Value, frame: &Frame) -> Result<Vec<Action>, String> {
    match call.get("actions") {
        Some(Value::Array(actions)) if actions.len() > MOST => Err(format!(
            "{} actions at once: give {MOST} at most",
            actions.len()
        )),
        Some(Value::Array(actions)) => {
            let mut all = Vec::new();
            for action in actions {
                all.extend(one(action, frame)?);
            }
            Ok(all)
        }
        Some(other) => Err(format!("`actions` is {other}: give a list")),
        None => one(call, frame),
    }
}

fn one(call: &Value, frame: &Frame) -> Result<Vec<Action>, String> {
    let given = Given::of(call);
    let Some(kind) = given.text(&["type"]) else {
        // A service without the tool of its own was given the function.
        return own::read(call, frame).map(|action| vec![action]);
    };
    let at = || given.must_point(&[], frame);
    let click = |button, count| {
        let Point { x, y } = at()?;
        let click = Action::Click {
            x,
            y,
            button,
            count,
            hold: None,
        };
        Ok(held(modifiers(given)?, click))
    };
    match kind.as_str() {
        "click" => click(button(given)?, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "scroll" => {
            let Point { x, y } = at()?;
            let per = f64::from(PIXELS_PER_NOTCH);
            let scroll = Action::Scroll {
                x,
                y,
                dx: given.notches(&["scroll_x"], Some(0.0), per)?,
                dy: given.notches(&["scroll_y"], Some(0.0), per)?,
            };
            Ok(held(modifiers(given)?, scroll))
        }
        "type" => Ok(vec![Action::Type {
            text: given.words(&["text"])?,
        }]),
        "wait" => {
            let seconds = given.number(&["ms"])?.map_or(1.0, |ms| ms / 1000.0);
            let seconds =
                agon_core::Seconds::new(seconds).ok_or_else(|| "`ms` is no duration".to_owned())?;
            Ok(vec![Action::Wait { seconds }])
        }
        "keypress" => Ok(vec![Action::Key {
            keys: given.keys(&["keys", "key"])?,
            hold: None,
        }]),
        "move" => {
            let Point { x, y } = at()?;
            Ok(vec![Action::Move { x, y }])
        }
        "drag" => {
            let path = given.get(&["path"]).and_then(Value::as_array);
            let path = path.ok_or_else(|| "`path` is missing".to_owned())?;
            let points = path.iter().map(|point| {
                let point = json!({ "at": point });
                Given::of(&point).must_point(&["at"], frame)
            });
            let path: Vec<Point> = points.collect::<Result<_, _>>()?;
            if !(2..=1000).contains(&path.len()) {
                return Err(format!(
                    "`path` has {} points: give from 2 to 1000",
                    path.len()
                ));
            }
            let drag = Action::Drag {
                path,
                button: Button::Left,
                seconds: None,
            };
            Ok(held(modifiers(given)?, drag))
        }
        "screenshot" => Ok(vec![Action::Screenshot]),
        other => {
            let name: String = other.chars().take(40).collect();
            Err(format!("`{name}` is no action of the computer"))
        }
    }
}

fn button(given: Given<'_>) -> Result<Button, String> {
    match given.text(&["button"]).as_deref() {
        Some("wheel") => Ok(Button::Middle),
        Some(side @ ("back" | "forward")) => Err(format!(
            "there is no `{side}` button: use the keys alt+Left and alt+Right"
        )),
        _ => given.button(&["button"]),
    }
}

/// Keys that are held meanwhile.
fn modifiers(given: Given<'_>) -> Result<Vec<String>, String> {
    match given.get(&["keys"]) {
        Some(Value::Array(keys)) if !keys.is_empty() => Ok(apart(&given.keys(&["keys"])?)),
        Some(Value::String(keys)) if !keys.is_empty() => Ok(apart(keys)),
        _ => Ok(Vec::new()),
    }
}

/// What the tool would have said; `None`: it has no words for it.
pub fn write(action: &Action, frame: &Frame) -> Option<Value> {
    let shown = |x: i32, y: i32| frame.shown(Point { x, y });
    let value = match action {
        Action::Click {
            x,
            y,
            button,
            count,
            ..
        } => {
            let (x, y) = shown(*x, *y);
            match (count, button) {
                (1, Button::Left) => json!({"type": "click", "button": "left", "x": x, "y": y}),
                (1, Button::Right) => json!({"type": "click", "button": "right", "x": x, "y": y}),
                (1, Button::Middle) => json!({"type": "click", "button": "wheel", "x": x, "y": y}),
                (2, Button::Left) => json!({"type": "double_click", "x": x, "y": y}),
                (3, Button::Left) => json!({"type": "triple_click", "x": x, "y": y}),
                _ => return None,
            }
        }
        Action::Move { x, y } => {
            let (x, y) = shown(*x, *y);
            json!({"type": "move", "x": x, "y": y})
        }
        Action::Scroll { x, y, dx, dy } => {
            let (x, y) = shown(*x, *y);
            let pixels = |notches: i32| notches.checked_mul(PIXELS_PER_NOTCH);
            json!({"type": "scroll", "x": x, "y": y, "scroll_x": pixels(*dx)?, "scroll_y": pixels(*dy)?})
        }
        Action::Drag {
            path,
            button: Button::Left,
            seconds: None,
        } => {
            let points = path.iter().map(|point| {
                let (x, y) = shown(point.x, point.y);
                json!({"x": x, "y": y})
            });
            json!({"type": "drag", "path": points.collect::<Vec<_>>()})
        }
        Action::Type { text } => json!({"type": "type", "text": text}),
        Action::Key { keys, .. } => json!({"type": "keypress", "keys": apart(keys)}),
        Action::Wait { seconds } => {
            json!({"type": "wait", "ms": (seconds.duration().as_secs_f64() * 1000.0).round()})
        }
        Action::Screenshot => json!({"type": "screenshot"}),
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::samples::{actions, frame};

    proptest! {
        #[test]
        fn what_is_written_is_read_back(action in actions()) {
            if let Some(call) = write(&action, &frame()) {
                prop_assert_eq!(read(&call, &frame()), Ok(vec![action]));
            }
        }
    }

    #[test]
    fn the_tools_own_words() {
        let read = |call: Value| read(&call, &frame()).unwrap();
        assert_eq!(
            read(json!({"type": "click", "button": "wheel", "x": 1, "y": 2})),
            [Action::Click {
                x: 1,
                y: 2,
                button: Button::Middle,
                count: 1,
                hold: None
            }]
        );
        assert_eq!(
            read(json!({"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 400})),
            [Action::Scroll {
                x: 1,
                y: 2,
                dx: 0,
                dy: 8
            }]
        );
        assert_eq!(
            read(json!({"type": "keypress", "keys": ["CTRL", "L"]})),
            [Action::Key {
                keys: "CTRL+L".to_owned(),
                hold: None
            }]
        );
        assert_eq!(
            read(json!({"type": "drag", "path": [[1, 2], {"x": 3, "y": 4}]})),
            [Action::Drag {
                path: vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }],
                button: Button::Left,
                seconds: None
            }]
        );
        let both = json!({"actions": [{"type": "move", "x": 1, "y": 2}, {"type": "screenshot"}]});
        assert_eq!(
            read(both),
            [Action::Move { x: 1, y: 2 }, Action::Screenshot]
        );
        assert_eq!(read(json!({"action": "screenshot"})), [Action::Screenshot]);
    }

    #[test]
    fn keys_that_are_held_come_up_again() {
        let call =
            json!({"type": "click", "button": "left", "x": 1, "y": 2, "keys": ["CTRL", "SHIFT"]});
        let kinds: Vec<_> = read(&call, &frame())
            .unwrap()
            .iter()
            .map(Action::kind)
            .collect();
        use agon_core::ActionKind as K;
        assert_eq!(
            kinds,
            [K::KeyDown, K::KeyDown, K::Click, K::KeyUp, K::KeyUp]
        );
    }

    #[test]
    fn what_can_not_be_done_is_said() {
        for (call, word) in [
            (
                json!({"type": "click", "button": "back", "x": 1, "y": 2}),
                "alt+Left",
            ),
            (
                json!({"type": "click", "button": "left", "x": 1}),
                "`y` is missing",
            ),
            (
                json!({"type": "click", "button": "left", "x": 5000, "y": 1}),
                "1279",
            ),
            (json!({"type": "drag", "path": [[1, 2]]}), "from 2 to 1000"),
            (
                json!({"type": "exec", "text": "ls"}),
                "no action of the computer",
            ),
            (json!({"actions": "all"}), "give a list"),
        ] {
            let why = read(&call, &frame()).unwrap_err();
            assert!(why.contains(word), "{call}: {why}");
        }
    }
}
