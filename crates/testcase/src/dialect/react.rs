//! The actions of AgentDesk: `{"name": "click", "parameters": {"x": 10, "y": 20, "button": "left"}}`. What it
//! has no word for (a third click, a scroll to the side) is not written; a third click is read.

use agon_core::action::{Action, ActionKind, Button, Point};
use serde_json::{Value, json};

use super::frame::Frame;
use super::given::{Given, apart};

/// What a wheel is turned by if nothing is said: down.
const USUAL_CLICKS: f64 = -3.0;

/// Names under which a point may be given as one value.
const POINT: &[&str] = &["coordinate", "coordinates", "point", "position"];

/// An action that a model can be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    pub kind: ActionKind,
    /// `click(x, y, button)`
    pub form: &'static str,
    pub about: &'static str,
}

impl Offer {
    pub fn name(&self) -> &'static str {
        self.form.split('(').next().unwrap_or(self.form)
    }
}

/// All that there are, in the order in which they are told.
pub const OFFERS: [Offer; 12] = [
    Offer {
        kind: ActionKind::Click,
        form: "click(x, y, button)",
        about: "click at a point; `button` is left (if left out), middle or right",
    },
    Offer {
        kind: ActionKind::Click,
        form: "double_click(x, y, button)",
        about: "click twice, which opens icons and selects words",
    },
    Offer {
        kind: ActionKind::Move,
        form: "move_mouse(x, y)",
        about: "move the pointer without clicking",
    },
    Offer {
        kind: ActionKind::Drag,
        form: "drag_mouse(x, y)",
        about: "drag with the left button from where the pointer is to a point; move there first",
    },
    Offer {
        kind: ActionKind::Scroll,
        form: "scroll(clicks, x, y)",
        about: "turn the wheel at a point: a positive number of clicks scrolls up, a negative one down",
    },
    Offer {
        kind: ActionKind::Type,
        form: "type_text(text)",
        about: "type a text into what has the focus; a line break is the Enter key",
    },
    Offer {
        kind: ActionKind::Key,
        form: "press_key(key)",
        about: "press one key, such as enter, tab, esc, backspace, pagedown, up or f5",
    },
    Offer {
        kind: ActionKind::Key,
        form: "hot_key(keys)",
        about: "press several keys together, such as [\"ctrl\", \"s\"]",
    },
    Offer {
        kind: ActionKind::Wait,
        form: "wait(seconds)",
        about: "let time pass, for programs that need it",
    },
    Offer {
        kind: ActionKind::Screenshot,
        form: "take_screenshot()",
        about: "do nothing but look again",
    },
    Offer {
        kind: ActionKind::Run,
        form: "exec(command)",
        about: "run a command in a shell and be told what it prints",
    },
    Offer {
        kind: ActionKind::Finish,
        form: "result(value)",
        about: "end the task; `value` is the answer, or what was done if nothing was asked",
    },
];

/// `call` has a `name` and, unless there are none, `parameters`.
pub fn read(call: &Value, frame: &Frame) -> Result<Action, String> {
    let name = call.get("name").and_then(Value::as_str);
    let name = name.ok_or("an action needs a `name`")?;
    let parameters = call.get("parameters").or_else(|| call.get("arguments"));
    let given = Given::of(parameters.unwrap_or(&Value::Null));
    let click = |count| {
        let at = given.point(POINT, frame)?.unwrap_or_else(|| frame.cursor());
        Ok(Action::Click {
            x: at.x,
            y: at.y,
            button: given.button(&["button"])?,
            count,
            hold: None,
        })
    };
    match name {
        "click" => click(1),
        "double_click" => click(2),
        "triple_click" => click(3),
        "move_mouse" => {
            let Point { x, y } = given.must_point(POINT, frame)?;
            Ok(Action::Move { x, y })
        }
        "drag_mouse" => Ok(Action::Drag {
            path: vec![frame.cursor(), given.must_point(POINT, frame)?],
            button: Button::Left,
            seconds: None,
        }),
        "scroll" => {
            let at = given.point(POINT, frame)?.unwrap_or_else(|| frame.cursor());
            Ok(Action::Scroll {
                x: at.x,
                y: at.y,
                dx: 0,
                dy: -given.notches(&["clicks"], Some(USUAL_CLICKS), 1.0)?,
            })
        }
        "type_text" => Ok(Action::Type {
            text: given.words(&["text"])?,
        }),
        "press_key" => Ok(Action::Key {
            keys: given.keys(&["key", "keys"])?,
            hold: None,
        }),
        "hot_key" => Ok(Action::Key {
            keys: given.keys(&["keys", "key"])?,
            hold: None,
        }),
        "wait" => Ok(Action::Wait {
            seconds: given.seconds(&["seconds"], 1.0)?,
        }),
        // What the pointer is over is told with every screen.
        "take_screenshot" | "take_screenshots" | "screenshot" | "mouse_coordinates" => {
            Ok(Action::Screenshot)
        }
        "result" => Ok(Action::Finish {
            result: given.text(&["value"]),
        }),
        "exec" => Ok(Action::run(given.words(&["command", "cmd"])?)),
        "open_url" => Err("`open_url` is not there: open the browser by mouse and keyboard".into()),
        other => Err(format!(
            "`{}` is no action",
            other.chars().take(40).collect::<String>()
        )),
    }
}

/// The action in these words; `None`: there are none for it.
pub fn write(action: &Action, frame: &Frame) -> Option<Value> {
    let at = |x: i32, y: i32| frame.shown(Point { x, y });
    let call =
        |name: &str, parameters: Value| Some(json!({"name": name, "parameters": parameters}));
    match action {
        Action::Click {
            x,
            y,
            button,
            count,
            ..
        } => {
            let name = match count {
                1 => "click",
                2 => "double_click",
                _ => "triple_click",
            };
            let (x, y) = at(*x, *y);
            call(name, json!({"x": x, "y": y, "button": button}))
        }
        Action::Move { x, y } => {
            let (x, y) = at(*x, *y);
            call("move_mouse", json!({"x": x, "y": y}))
        }
        Action::Drag {
            path,
            button: Button::Left,
            seconds: None,
        } => match path.as_slice() {
            [from, to] if *from == frame.cursor() => {
                let (x, y) = at(to.x, to.y);
                call("drag_mouse", json!({"x": x, "y": y}))
            }
            _ => None,
        },
        Action::Scroll { x, y, dx: 0, dy } => {
            let (x, y) = at(*x, *y);
            call("scroll", json!({"clicks": -i64::from(*dy), "x": x, "y": y}))
        }
        Action::Type { text } => call("type_text", json!({"text": text})),
        Action::Key { keys, .. } => match apart(keys).as_slice() {
            [key] => call("press_key", json!({"key": key})),
            keys => call("hot_key", json!({"keys": keys})),
        },
        Action::Wait { seconds } => call("wait", json!({"seconds": seconds})),
        Action::Screenshot => call("take_screenshot", json!({})),
        Action::Finish { result } => call("result", json!({"value": result})),
        Action::Run {
            command,
            input: false,
            timeout: None,
            wait: None,
        } => call("exec", json!({"command": command})),
        _ => None,
    }
}

#[cfg(test)]
#[path = "react_tests.rs"]
mod tests;
