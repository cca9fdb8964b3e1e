//! What a listener tells. Knows nothing of X.

use std::time::Duration;

use agon_core::InputKind;
use serde::{Deserialize, Serialize};

use crate::windows::WindowInfo;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Input(InputEvent),
    Window(WindowEvent),
    KeyboardState(KeyboardStateEvent),
    MouseState(MouseStateEvent),
    Tick(Tick),
}

impl Event {
    /// When it came, on the clock of [`crate::monotonic()`].
    pub const fn t(&self) -> Duration {
        match self {
            Self::Input(event) => event.t,
            Self::Window(event) => event.t,
            Self::KeyboardState(state) => state.t,
            Self::MouseState(state) => state.t,
            Self::Tick(tick) => tick.t,
        }
    }
}

/// One thing that keyboard or mouse did, whoever caused it. What does not belong to its kind is
/// `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputEvent {
    /// Since the machine started.
    #[serde(with = "seconds")]
    pub t: Duration,
    pub kind: InputKind,
    /// Name of the key, whatever it makes of Shift: `Right`, `space`, `a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Windows virtual-key number, where the key has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vk: Option<u16>,
    /// Number of the key on the X server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keycode: Option<u8>,
    /// 1 left, 2 middle, 3 right, 8 and 9 at the side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button: Option<u8>,
    /// Where the pointer was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<i32>,
    /// Notches of a scroll to the right, or to the left where it is negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dx: Option<i32>,
    /// Notches of a scroll down, or up where it is negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dy: Option<i32>,
}

impl InputEvent {
    /// An event of which nothing but kind and time is known yet.
    pub const fn new(t: Duration, kind: InputKind) -> Self {
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

    /// As it is recorded, with the time since `began`.
    pub fn recorded(self, began: Duration) -> agon_core::InputEvent {
        agon_core::InputEvent {
            t: self.t.saturating_sub(began).as_secs_f64(),
            kind: self.kind,
            key: self.key,
            vk: self.vk,
            keycode: self.keycode,
            button: self.button,
            x: self.x,
            y: self.y,
            dx: self.dx,
            dy: self.dy,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowEvent {
    #[serde(with = "seconds")]
    pub t: Duration,
    pub kind: WindowEventKind,
    /// As it was last seen, for one that is closed. `None` when no window is active any more.
    pub window: Option<WindowInfo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowEventKind {
    Created,
    Closed,
    /// Another window is active.
    Focus,
    Title,
}

/// The keys that are down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyboardStateEvent {
    #[serde(with = "seconds")]
    pub t: Duration,
    pub keys: Vec<String>,
    /// Sorted, each once.
    pub vks: Vec<u16>,
}

/// Where the pointer is, and the buttons that are down: 1 left, 2 middle, 3 right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MouseStateEvent {
    #[serde(with = "seconds")]
    pub t: Duration,
    pub x: i32,
    pub y: i32,
    pub buttons: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    #[serde(with = "seconds")]
    pub t: Duration,
    /// From 1; those that were missed are counted too.
    pub number: u64,
}

/// Times as seconds, as in every other record.
mod seconds {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(t: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(t.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(from)?;
        Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_flat_objects_and_are_read_again() {
        let event = Event::Input(InputEvent {
            key: Some("Right".to_owned()),
            vk: Some(0x27),
            keycode: Some(114),
            ..InputEvent::new(Duration::from_millis(1500), InputKind::KeyPress)
        });
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(
            text,
            r#"{"event":"input","t":1.5,"kind":"key_press","key":"Right","vk":39,"keycode":114}"#
        );
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        for bad in ["-1", "1e300", "null"] {
            let text = text.replace("1.5", bad);
            assert!(serde_json::from_str::<Event>(&text).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_record_has_the_time_since_its_trial_began() {
        let event = InputEvent {
            x: Some(3),
            y: Some(4),
            ..InputEvent::new(Duration::from_millis(2500), InputKind::Motion)
        };
        let recorded = event.clone().recorded(Duration::from_secs(2));
        assert_eq!(
            (recorded.t, recorded.x, recorded.y),
            (0.5, Some(3), Some(4))
        );
        assert_eq!(event.recorded(Duration::from_secs(9)).t, 0.0);
    }
}
