//! The `computer_use` function of the Qwen models: `{"action": "left_click", "coordinate": [10, 20]}`. Points
//! are in the frame's grid, which is what differs between the generations of the models.

use agon_core::action::{Action, ActionKind, Button, Point};
use serde_json::{Map, Value, json};

use super::frame::Frame;
use super::given::{Given, apart};

/// The function's name.
pub const FUNCTION: &str = "computer_use";

/// Pixels of a scroll that are one notch of a wheel: about three lines of text.
pub const PIXELS_PER_NOTCH: i32 = 50;

const POINT: &[&str] = &["coordinate", "coordinates", "point"];

/// An action that a model can be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    pub name: &'static str,
    pub kind: ActionKind,
    pub about: &'static str,
}

const fn offer(name: &'static str, kind: ActionKind, about: &'static str) -> Offer {
    Offer { name, kind, about }
}

/// All that there are, in the order in which they are told.
pub const OFFERS: [Offer; 16] = [
    offer("key", ActionKind::Key, "Press the keys of `keys` together."),
    offer("type", ActionKind::Type, "Type the text of `text`."),
    offer(
        "mouse_move",
        ActionKind::Move,
        "Move the pointer to `coordinate`.",
    ),
    offer(
        "left_click",
        ActionKind::Click,
        "Click with the left button at `coordinate`.",
    ),
    offer(
        "left_click_drag",
        ActionKind::Drag,
        "Drag with the left button from where the pointer is to `coordinate`.",
    ),
    offer(
        "right_click",
        ActionKind::Click,
        "Click with the right button at `coordinate`.",
    ),
    offer(
        "middle_click",
        ActionKind::Click,
        "Click with the middle button at `coordinate`.",
    ),
    offer(
        "double_click",
        ActionKind::Click,
        "Click twice with the left button at `coordinate`.",
    ),
    offer(
        "triple_click",
        ActionKind::Click,
        "Click three times with the left button at `coordinate`.",
    ),
    offer(
        "scroll",
        ActionKind::Scroll,
        "Turn the wheel by `pixels`: positive is up, negative is down.",
    ),
    offer(
        "hscroll",
        ActionKind::Scroll,
        "Turn the wheel sideways by `pixels`: positive is to the right, negative to the left.",
    ),
    offer(
        "wait",
        ActionKind::Wait,
        "Let `time` seconds pass, for programs that need it.",
    ),
    offer(
        "screenshot",
        ActionKind::Screenshot,
        "Do nothing but look again.",
    ),
    offer(
        "exec",
        ActionKind::Run,
        "Run the command of `text` in a shell.",
    ),
    offer(
        "answer",
        ActionKind::Finish,
        "Give the answer that the task asks for in `text`, which ends the task.",
    ),
    offer(
        "terminate",
        ActionKind::Finish,
        "End the task, with `status` success or failure.",
    ),
];

/// What the function takes, for the actions that are offered: its parameters as JSON Schema.
pub fn parameters(offers: &[Offer]) -> Value {
    let names: Vec<&str> = offers.iter().map(|offer| offer.name).collect();
    let lines: Vec<String> = offers
        .iter()
        .map(|offer| format!("* `{}`: {}", offer.name, offer.about))
        .collect();
    let about = format!(
        "The action to perform. The available actions are:\n{}",
        lines.join("\n")
    );
    json!({
        "type": "object",
        "properties": {
            "action": {"description": about, "enum": names, "type": "string"},
            "keys": {"description": "Required only by `action=key`.", "type": "array"},
            "text": {"description": "Required only by `action=type` and `action=answer`.", "type": "string"},
            "coordinate": {
                "description": "(x, y): pixels from the left edge and from the top edge.",
                "type": "array",
            },
            "pixels": {"description": "Required only by `action=scroll` and `action=hscroll`.", "type": "number"},
            "time": {"description": "Seconds. Required only by `action=wait`.", "type": "number"},
            "status": {
                "description": "Required only by `action=terminate`.",
                "enum": ["success", "failure"],
                "type": "string",
            },
        },
        "required": ["action"],
    })
}

/// From the function's arguments.
pub fn read(arguments: &Value, frame: &Frame) -> Result<Action, String> {
    let given = Given::of(arguments);
    let action = given.words(&["action"])?;
    let point = || {
        let given = given.point(POINT, frame)?;
        Ok::<_, String>(given.unwrap_or_else(|| frame.cursor()))
    };
    let click = |button, count| {
        let Point { x, y } = point()?;
        Ok(Action::Click {
            x,
            y,
            button,
            count,
            hold: None,
        })
    };
    let notches = || given.notches(&["pixels"], None, f64::from(PIXELS_PER_NOTCH));
    let scroll = |dx, dy| {
        let Point { x, y } = point()?;
        Ok(Action::Scroll { x, y, dx, dy })
    };
    match action.as_str() {
        "key" => Ok(Action::Key {
            keys: given.keys(&["keys", "key", "text"])?,
            hold: None,
        }),
        "type" => Ok(Action::Type {
            text: given.words(&["text"])?,
        }),
        "mouse_move" => {
            let Point { x, y } = given.must_point(POINT, frame)?;
            Ok(Action::Move { x, y })
        }
        "left_click" | "click" => click(Button::Left, 1),
        "right_click" => click(Button::Right, 1),
        "middle_click" => click(Button::Middle, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "left_click_drag" => {
            let from = given.get(&["start_coordinate"]);
            let from = from
                .map(|_| given.must_point(&["start_coordinate"], frame))
                .transpose()?;
            Ok(Action::Drag {
                path: vec![
                    from.unwrap_or_else(|| frame.cursor()),
                    given.must_point(POINT, frame)?,
                ],
                button: Button::Left,
                seconds: None,
            })
        }
        "scroll" => scroll(0, -notches()?),
        "hscroll" => scroll(notches()?, 0),
        "wait" => Ok(Action::Wait {
            seconds: given.seconds(&["time", "seconds"], 1.0)?,
        }),
        "screenshot" => Ok(Action::Screenshot),
        "exec" => Ok(Action::run(given.words(&["text", "command"])?)),
        "answer" => Ok(Action::Finish {
            result: Some(given.words(&["text"])?),
        }),
        "terminate" => Ok(terminated(given)),
        other => Err(format!(
            "`{}` is no action",
            other.chars().take(40).collect::<String>()
        )),
    }
}

/// A success is told by its words alone.
fn terminated(given: Given<'_>) -> Action {
    let text = given.text(&["text"]);
    let status = given.text(&["status"]).unwrap_or_default();
    let result = match status.as_str() {
        "failure" => Some(match text {
            Some(text) => format!("Status: failure\n{text}"),
            None => "Status: failure".to_owned(),
        }),
        _ => text,
    };
    Action::Finish { result }
}

/// The function's arguments; `None`: it has no words for the action.
pub fn write(action: &Action, frame: &Frame) -> Option<Value> {
    let at = |x: i32, y: i32| {
        let (x, y) = frame.shown(Point { x, y });
        json!([x, y])
    };
    let mut arguments = Map::new();
    let mut put = |key: &str, value: Value| {
        arguments.insert(key.to_owned(), value);
    };
    let name = match action {
        Action::Key { keys, .. } => {
            put("keys", json!(apart(keys)));
            "key"
        }
        Action::Type { text } => {
            put("text", json!(text));
            "type"
        }
        Action::Move { x, y } => {
            put("coordinate", at(*x, *y));
            "mouse_move"
        }
        Action::Click {
            x,
            y,
            button,
            count,
            ..
        } => {
            put("coordinate", at(*x, *y));
            match (button, count) {
                (Button::Left, 1) => "left_click",
                (Button::Left, 2) => "double_click",
                (Button::Left, _) => "triple_click",
                (Button::Right, 1) => "right_click",
                (Button::Middle, 1) => "middle_click",
                _ => return None,
            }
        }
        Action::Drag {
            path,
            button: Button::Left,
            seconds: None,
        } => {
            let [from, to] = path.as_slice() else {
                return None;
            };
            if *from != frame.cursor() {
                put("start_coordinate", at(from.x, from.y));
            }
            put("coordinate", at(to.x, to.y));
            "left_click_drag"
        }
        Action::Scroll { x, y, dx: 0, dy } => {
            put("coordinate", at(*x, *y));
            put(
                "pixels",
                json!(-i64::from(*dy) * i64::from(PIXELS_PER_NOTCH)),
            );
            "scroll"
        }
        Action::Scroll { x, y, dx, dy: 0 } => {
            put("coordinate", at(*x, *y));
            put(
                "pixels",
                json!(i64::from(*dx) * i64::from(PIXELS_PER_NOTCH)),
            );
            "hscroll"
        }
        Action::Wait { seconds } => {
            put("time", json!(seconds));
            "wait"
        }
        Action::Screenshot => "screenshot",
        Action::Run {
            command,
            input: false,
            timeout: None,
            wait: None,
        } => {
            put("text", json!(command));
            "exec"
        }
        Action::Finish { result: Some(text) } => {
            put("text", json!(text));
            "answer"
        }
        Action::Finish { result: None } => {
            put("status", json!("success"));
            "terminate"
        }
        _ => return None,
    };
    put("action", json!(name));
    Some(Value::Object(arguments))
}

#[cfg(test)]
#[path = "qwen_tests.rs"]
mod tests;
