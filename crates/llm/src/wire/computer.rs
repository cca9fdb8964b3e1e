//! The screen as a plain function, for models that have no tool of their own for it: its actions are
//! those of Agon.

use serde_json::{Value, json};

pub(super) const NAME: &str = "computer";

pub(super) fn description(width: u32, height: u32) -> String {
    format!(
        "Use keyboard and mouse of a computer with a screen of {width}x{height} pixels. Points are \
         pixels from the upper left corner: x from 0 to {}, y from 0 to {}. One action per call; after \
         it you are shown the screen.",
        width.saturating_sub(1),
        height.saturating_sub(1)
    )
}

/// One flat object, since many models take no choice between schemas at the top.
pub(super) fn parameters(width: u32, height: u32) -> Value {
    let within = |size: u32, what: &str| json!({"type": "integer", "minimum": 0, "maximum": size.saturating_sub(1), "description": what});
    let x = || within(width, "Pixels from the left: for click, move and scroll.");
    let y = || within(height, "Pixels from the top: for click, move and scroll.");
    json!({
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["click", "type", "key", "scroll", "move", "drag", "wait", "screenshot"],
                "description": "What to do.",
            },
            "x": x(),
            "y": y(),
            "button": {
                "type": "string",
                "enum": ["left", "middle", "right"],
                "description": "For click and drag; left if left out.",
            },
            "count": {
                "type": "integer", "minimum": 1, "maximum": 3,
                "description": "For click: 2 is a double click; 1 if left out.",
            },
            "text": {"type": "string", "description": "For type: the text to type."},
            "keys": {
                "type": "string",
                "description": "For key: a key or a chord such as `Return`, `ctrl+s` or `alt+Tab`.",
            },
            "dx": {
                "type": "integer",
                "description": "For scroll: notches to the right, negative to the left.",
            },
            "dy": {
                "type": "integer",
                "description": "For scroll: notches down, negative up.",
            },
            "path": {
                "type": "array",
                "minItems": 2,
                "maxItems": 1000,
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                    "required": ["x", "y"],
                    "additionalProperties": false,
                },
                "description": "For drag: press at the first point, release at the last.",
            },
            "seconds": {"type": "number", "minimum": 0, "description": "For wait: how long."},
        },
        "required": ["action"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use agon_core::{Action, ActionKind};

    use super::*;

    #[test]
    fn every_action_of_the_function_is_one_of_agon() {
        let parameters = parameters(800, 600);
        let names = parameters.pointer("/properties/action/enum").unwrap();
        for name in names.as_array().unwrap() {
            let kind: ActionKind = name.as_str().unwrap().parse().unwrap();
            let input = match kind {
                ActionKind::Click => {
                    json!({"action": name, "x": 1, "y": 2, "button": "right", "count": 2})
                }
                ActionKind::Type => json!({"action": name, "text": "a"}),
                ActionKind::Key => json!({"action": name, "keys": "ctrl+s"}),
                ActionKind::Scroll => json!({"action": name, "x": 1, "y": 2, "dx": 0, "dy": -3}),
                ActionKind::Move => json!({"action": name, "x": 1, "y": 2}),
                ActionKind::Drag => {
                    json!({"action": name, "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "button": "left"})
                }
                ActionKind::Wait => json!({"action": name, "seconds": 0.5}),
                _ => json!({"action": name}),
            };
            let action: Action = serde_json::from_value(input.clone()).unwrap();
            assert_eq!(action.kind(), kind, "{input}");
            let known = parameters.get("properties").unwrap();
            for key in input.as_object().unwrap().keys() {
                assert!(known.get(key).is_some(), "{key}");
            }
        }
    }
}
