//! Agon's own actions as a model calls them through a plain `computer` function, which stands in for providers
//! that have no tool of their own for screens. Only points differ: they are in the frame's grid.

use agon_core::Action;
use serde_json::Value;

use super::frame::Frame;
use super::given::Given;

/// What the function offers; nothing else is done or named.
const OFFERED: [&str; 8] = [
    "click",
    "type",
    "key",
    "scroll",
    "move",
    "drag",
    "wait",
    "screenshot",
];

/// From the function's arguments.
pub fn read(arguments: &Value, frame: &Frame) -> Result<Action, String> {
    let given = Given::of(arguments);
    let mut own = arguments
        .as_object()
        .cloned()
        .ok_or_else(|| "the call holds no object".to_owned())?;
    // The function has the keys of all actions, and models fill in those that this one does not have.
    let name = given.words(&["action"])?;
    if !OFFERED.contains(&name.as_str()) {
        let name: String = name.chars().take(40).collect();
        return Err(format!(
            "`{name}` is no action of the computer: there are {}",
            OFFERED.join(", ")
        ));
    }
    let types = own.get("action").is_some_and(|action| action == "type");
    let says = |key: &str, value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty() || (types && key == "text"),
        _ => true,
    };
    own.retain(|key, value| says(key, value));
    if let Some(point) = given.point(&[], frame)? {
        own.insert("x".to_owned(), point.x.into());
        own.insert("y".to_owned(), point.y.into());
    }
    if let Some(Value::Array(path)) = own.get("path") {
        let points = path.iter().map(|point| {
            let pixel = Given::of(point).must_point(&[], frame)?;
            Ok(serde_json::json!({"x": pixel.x, "y": pixel.y}))
        });
        let points = points.collect::<Result<Vec<_>, String>>()?;
        own.insert("path".to_owned(), points.into());
    }
    serde_json::from_value(own.into()).map_err(|error| error.to_string())
}

/// To the function's arguments.
pub fn write(action: &Action, frame: &Frame) -> Option<Value> {
    let shown = |x, y| frame.shown(agon_core::action::Point { x, y });
    let mut action = action.clone();
    match &mut action {
        Action::Click { x, y, .. } | Action::Move { x, y } | Action::Scroll { x, y, .. } => {
            (*x, *y) = shown(*x, *y);
        }
        Action::Drag { path, .. } => {
            for point in path {
                (point.x, point.y) = shown(point.x, point.y);
            }
        }
        Action::Key { .. } | Action::Type { .. } | Action::Wait { .. } | Action::Screenshot => {}
        _ => return None,
    }
    serde_json::to_value(action).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::dialect::samples::{actions, frame};

    proptest! {
        #[test]
        fn what_is_written_is_read_back(action in actions()) {
            if let Some(call) = write(&action, &frame()) {
                prop_assert_eq!(read(&call, &frame()), Ok(action));
            }
        }
    }

    #[test]
    fn what_a_model_fills_in_needlessly_is_left_out() {
        let call =
            json!({"action": "click", "x": 3, "y": 4, "text": null, "keys": "", "path": null});
        assert!(matches!(
            read(&call, &frame()),
            Ok(Action::Click { x: 3, y: 4, .. })
        ));
        let nothing = json!({"action": "fly"});
        assert!(read(&nothing, &frame()).unwrap_err().contains("fly"));
        for forbidden in ["left_click", "zoom", "run", "finish"] {
            let why = read(&json!({"action": forbidden, "command": "ls"}), &frame()).unwrap_err();
            let (named, offered) = why.split_once("there are").unwrap();
            assert!(named.contains(forbidden), "{why}");
            assert_eq!(offered.trim(), OFFERED.join(", "));
        }
        let outside = json!({"action": "click", "x": 9999, "y": 4});
        assert!(read(&outside, &frame()).is_err());
    }
}
