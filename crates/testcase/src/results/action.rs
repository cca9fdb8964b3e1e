//! Actions as they stand in result files: `name='click' parameters={'x': 1, 'y': 2}`, in the words of AgentDesk
//! where it has any, and otherwise in our own.

use agon_core::ScreenPoint;
use agon_core::action::{Action, Point};
use serde_json::{Map, Value};

use super::python;
use crate::dialect::{Frame, react};

/// Larger than any screen: a file does not always tell the size.
const SIDE: u32 = 1 << 16;

/// Reads and writes actions one after the other. Some of them begin where the pointer is.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pointer: Option<ScreenPoint>,
}

impl Words {
    /// `None`: no action that we know, or one that begins nobody knows where.
    pub(crate) fn read(&mut self, text: &str) -> Option<Action> {
        let rest = text.trim().strip_prefix("name=")?;
        let (name, rest) = python::read(rest)?;
        let rest = rest.trim_start().strip_prefix("parameters=")?;
        let (parameters, rest) = python::read(rest)?;
        let name = name.as_str().filter(|_| rest.trim().is_empty())?;
        let action = ours(name, &parameters).or_else(|| self.theirs(name, &parameters))?;
        self.follow(&action);
        Some(action)
    }

    pub(crate) fn write(&mut self, action: &Action) -> String {
        let call = react::write(action, &self.frame());
        // A third click is nothing that the original has.
        let call = call.filter(|_| !matches!(action, Action::Click { count: 3, .. }));
        let (name, parameters) = match call {
            Some(call) => (call["name"].clone(), call["parameters"].clone()),
            None => own_words(action),
        };
        self.follow(action);
        format!(
            "name={} parameters={}",
            python::write(&name),
            python::write(&parameters)
        )
    }

    /// Where the pointer was seen.
    pub(crate) fn seen(&mut self, pointer: Option<ScreenPoint>) {
        self.pointer = pointer.or(self.pointer);
    }

    fn frame(&self) -> Frame {
        Frame::same(SIDE, SIDE).with_cursor(self.pointer)
    }

    fn theirs(&self, name: &str, parameters: &Value) -> Option<Action> {
        let begins_anywhere = match name {
            "click" | "double_click" | "triple_click" | "scroll" => parameters.get("x").is_none(),
            "drag_mouse" => true,
            _ => false,
        };
        if begins_anywhere && self.pointer.is_none() {
            return None;
        }
        let mut call = Map::new();
        call.insert("name".to_owned(), name.into());
        call.insert("parameters".to_owned(), parameters.clone());
        react::read(&Value::Object(call), &self.frame()).ok()
    }

    fn follow(&mut self, action: &Action) {
        let to = match action {
            Action::Move { x, y } | Action::Click { x, y, .. } | Action::Scroll { x, y, .. } => {
                Some((*x, *y))
            }
            Action::Drag { path, .. } => path.last().map(|Point { x, y }| (*x, *y)),
            _ => None,
        };
        self.seen(to.map(|(x, y)| ScreenPoint { x, y }));
    }
}

/// What they have no words for stands there as it stands in our own record.
fn own_words(action: &Action) -> (Value, Value) {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(action) else {
        return (action.kind().name().into(), Value::Object(Map::new()));
    };
    let name = fields.remove("action");
    (name.unwrap_or_default(), Value::Object(fields))
}

fn ours(name: &str, parameters: &Value) -> Option<Action> {
    // These two have a meaning of their own there, unless they say what only ours can.
    let shared = matches!(name, "click" | "scroll");
    let mut only_ours = ["count", "dx", "dy"].iter();
    if shared && !only_ours.any(|key| parameters.get(key).is_some()) {
        return None;
    }
    let mut fields = parameters.as_object()?.clone();
    fields.insert("action".to_owned(), name.into());
    serde_json::from_value(Value::Object(fields)).ok()
}

#[cfg(test)]
mod tests {
    use agon_core::Seconds;
    use agon_core::action::Button;

    use super::*;

    #[test]
    fn the_originals_words_are_read() {
        let mut words = Words::default();
        let click = |x, y, button, count| Action::Click {
            x,
            y,
            button,
            count,
            hold: None,
        };
        assert_eq!(
            words.read("name='click' parameters={'button': 'left'}"),
            None
        );
        for (text, action) in [
            (
                "name='click' parameters={'button': 'right', 'x': 10, 'y': 20}",
                click(10, 20, Button::Right, 1),
            ),
            // Where the pointer was left.
            (
                "name='double_click' parameters={}",
                click(10, 20, Button::Left, 2),
            ),
            (
                "name='move_mouse' parameters={'x': 3, 'y': 4}",
                Action::Move { x: 3, y: 4 },
            ),
            (
                "name='drag_mouse' parameters={'x': 5, 'y': 6}",
                Action::Drag {
                    path: vec![Point { x: 3, y: 4 }, Point { x: 5, y: 6 }],
                    button: Button::Left,
                    seconds: None,
                },
            ),
            (
                "name='scroll' parameters={'clicks': -3}",
                Action::Scroll {
                    x: 5,
                    y: 6,
                    dx: 0,
                    dy: 3,
                },
            ),
            (
                r#"name='type_text' parameters={'text': "it's"}"#,
                Action::Type {
                    text: "it's".to_owned(),
                },
            ),
            (
                "name='result' parameters={'value': 'Paris'}",
                Action::Finish {
                    result: Some("Paris".to_owned()),
                },
            ),
            (
                "name='take_screenshots' parameters={'count': 1}",
                Action::Screenshot,
            ),
        ] {
            assert_eq!(words.read(text).as_ref(), Some(&action), "{text}");
        }
        for text in [
            "",
            "Starting task 'x'",
            "name='click'",
            "name='fly' parameters={}",
            "name='wait' parameters={} x",
        ] {
            assert_eq!(words.read(text), None, "{text}");
        }
    }

    #[test]
    fn every_action_comes_back() {
        let point = |x, y| Point { x, y };
        let actions = [
            Action::Move { x: 1, y: 2 },
            Action::Click {
                x: 1,
                y: 2,
                button: Button::Middle,
                count: 1,
                hold: None,
            },
            Action::Click {
                x: 1,
                y: 2,
                button: Button::Left,
                count: 3,
                hold: None,
            },
            Action::Drag {
                path: vec![point(9, 9), point(5, 5), point(1, 1)],
                button: Button::Right,
                seconds: Some(Seconds::whole(2)),
            },
            Action::Scroll {
                x: 1,
                y: 2,
                dx: 0,
                dy: -4,
            },
            Action::Scroll {
                x: 1,
                y: 2,
                dx: 5,
                dy: 0,
            },
            Action::Key {
                keys: "ctrl+s".to_owned(),
                hold: None,
            },
            Action::KeyDown {
                key: "shift".to_owned(),
            },
            Action::Type {
                text: "a'\"\\\n".to_owned(),
            },
            Action::run("ls -l"),
            Action::Message {
                text: "hello".to_owned(),
            },
            Action::Finish { result: None },
            Action::Screenshot,
        ];
        let (mut writing, mut reading) = (Words::default(), Words::default());
        for action in actions {
            let text = writing.write(&action);
            assert_eq!(reading.read(&text), Some(action), "{text}");
        }
    }
}
