//! What an X server really saw of keyboard and mouse, whoever caused it. Knows nothing of how it is
//! listened to; the action that an agent asked for is another event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that keyboard or mouse did. What does not belong to its kind is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputEvent {
    /// Seconds since the trial began.
    pub t: f64,
    pub kind: InputKind,
    /// Name of the key, such as `Right`, `space` or `a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Windows virtual-key number, where the key has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vk: Option<u16>,
    /// Number of the key on the X server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keycode: Option<u8>,
    /// Number of the button: 1 left, 2 middle, 3 right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button: Option<u8>,
    /// Where the pointer was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<i32>,
    /// Notches of a scroll, signed as in the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dx: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dy: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    KeyPress,
    KeyRelease,
    ButtonPress,
    ButtonRelease,
    Motion,
    Scroll,
}

impl InputEvent {
    /// An event of which nothing but kind and time is known yet.
    pub const fn new(t: f64, kind: InputKind) -> Self {
        Self {
            t,
            kind,
            key: None,
            vk: None,
            keycode: None,
            button: None,
            x: None,
            y: None,
            dx: None,
            dy: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_says_what_belongs_to_it_and_nothing_else() {
        let key = InputEvent {
            key: Some("Right".to_owned()),
            vk: Some(0x27),
            keycode: Some(114),
            ..InputEvent::new(0.5, InputKind::KeyPress)
        };
        let scroll = InputEvent {
            x: Some(0),
            y: Some(9),
            dx: Some(0),
            dy: Some(-3),
            ..InputEvent::new(0.75, InputKind::Scroll)
        };
        let text = serde_json::to_string(&[key.clone(), scroll.clone()]).unwrap();
        assert_eq!(
            text,
            r#"[{"t":0.5,"kind":"key_press","key":"Right","vk":39,"keycode":114},{"t":0.75,"kind":"scroll","x":0,"y":9,"dx":0,"dy":-3}]"#
        );
        let read: Vec<InputEvent> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, [key, scroll]);
    }
}
