//! Events in the words of Open World Agents' messages: Windows numbers, wheels that count upwards,
//! wall-clock nanoseconds. Fields and names are theirs; what is unknown is left out.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::InputKind;
use agon_core::clock::Clock;
use serde::{Deserialize, Serialize, Serializer};

use super::event::{Event, InputEvent, KeyboardStateEvent, MouseStateEvent};
use crate::geometry::Rect;
use crate::monotonic::monotonic;
use crate::windows::WindowInfo;

/// Turns times since the machine started into nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct WallTime {
    started: i128,
}

impl WallTime {
    pub fn of(clock: &dyn Clock) -> Self {
        let since_start = i128::try_from(monotonic().as_nanos()).unwrap_or_default();
        Self {
            started: clock.now().as_nanosecond() - since_start,
        }
    }

    pub fn nanoseconds(self, t: Duration) -> i64 {
        let t = i128::try_from(t.as_nanos()).unwrap_or(i128::MAX);
        i64::try_from(self.started.saturating_add(t)).unwrap_or(i64::MAX)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwaMessage {
    KeyboardEvent(OwaKeyboardEvent),
    MouseEvent(OwaMouseEvent),
    KeyboardState(OwaKeyboardState),
    MouseState(OwaMouseState),
    WindowInfo(OwaWindowInfo),
}

impl OwaMessage {
    /// The name of its type.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::KeyboardEvent(_) => "desktop/KeyboardEvent",
            Self::MouseEvent(_) => "desktop/MouseEvent",
            Self::KeyboardState(_) => "desktop/KeyboardState",
            Self::MouseState(_) => "desktop/MouseState",
            Self::WindowInfo(_) => "desktop/WindowInfo",
        }
    }
}

impl Serialize for OwaMessage {
    /// As its content: the name of the type stands elsewhere.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::KeyboardEvent(message) => message.serialize(serializer),
            Self::MouseEvent(message) => message.serialize(serializer),
            Self::KeyboardState(message) => message.serialize(serializer),
            Self::MouseState(message) => message.serialize(serializer),
            Self::WindowInfo(message) => message.serialize(serializer),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwaKeyboardEvent {
    pub event_type: OwaKeyAction,
    /// -1 for a key that Windows has no number for.
    pub vk: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwaKeyAction {
    Press,
    Release,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwaMouseEvent {
    pub event_type: OwaMouseAction,
    pub x: i32,
    pub y: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button: Option<OwaMouseButton>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressed: Option<bool>,
    /// To the right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dx: Option<i32>,
    /// Up, while our own events count down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dy: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwaMouseAction {
    Move,
    Click,
    Scroll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwaMouseButton {
    Unknown,
    Left,
    Middle,
    Right,
    X1,
    X2,
}

impl OwaMouseButton {
    const fn of(number: u8) -> Self {
        match number {
            1 => Self::Left,
            2 => Self::Middle,
            3 => Self::Right,
            8 => Self::X1,
            9 => Self::X2,
            _ => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwaKeyboardState {
    pub buttons: BTreeSet<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwaMouseState {
    pub x: i32,
    pub y: i32,
    pub buttons: BTreeSet<OwaMouseButton>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwaWindowInfo {
    pub title: String,
    /// Left, top, right, bottom.
    pub rect: [i32; 4],
    #[serde(rename = "hWnd")]
    pub window: i64,
}

impl Event {
    /// As a message of theirs; `None` for a tick, and for a window that is not there. Without a wall
    /// time there are no timestamps.
    pub fn to_owa(&self, wall: Option<WallTime>) -> Option<OwaMessage> {
        let timestamp = wall.map(|wall| wall.nanoseconds(self.t()));
        Some(match self {
            Self::Input(event) => event.to_owa(timestamp),
            Self::KeyboardState(state) => OwaMessage::KeyboardState(state.to_owa(timestamp)),
            Self::MouseState(state) => OwaMessage::MouseState(state.to_owa(timestamp)),
            Self::Window(event) => OwaMessage::WindowInfo(event.window.as_ref()?.to_owa()),
            Self::Tick(_) => return None,
        })
    }
}

impl InputEvent {
    fn to_owa(&self, timestamp: Option<i64>) -> OwaMessage {
        let key = |event_type| {
            OwaMessage::KeyboardEvent(OwaKeyboardEvent {
                event_type,
                vk: self.vk.map_or(-1, i32::from),
                timestamp,
            })
        };
        let mouse = |event_type, pressed| {
            OwaMessage::MouseEvent(OwaMouseEvent {
                event_type,
                x: self.x.unwrap_or(-1),
                y: self.y.unwrap_or(-1),
                button: self.button.map(OwaMouseButton::of),
                pressed,
                dx: self.dx,
                dy: self.dy.map(i32::saturating_neg),
                timestamp,
            })
        };
        match self.kind {
            InputKind::KeyPress => key(OwaKeyAction::Press),
            InputKind::KeyRelease => key(OwaKeyAction::Release),
            InputKind::ButtonPress => mouse(OwaMouseAction::Click, Some(true)),
            InputKind::ButtonRelease => mouse(OwaMouseAction::Click, Some(false)),
            InputKind::Motion => mouse(OwaMouseAction::Move, None),
            InputKind::Scroll => mouse(OwaMouseAction::Scroll, None),
        }
    }
}

impl KeyboardStateEvent {
    fn to_owa(&self, timestamp: Option<i64>) -> OwaKeyboardState {
        let vks = self.vks.iter().filter_map(|vk| u8::try_from(*vk).ok());
        OwaKeyboardState {
            buttons: vks.collect(),
            timestamp,
        }
    }
}

impl MouseStateEvent {
    fn to_owa(&self, timestamp: Option<i64>) -> OwaMouseState {
        let buttons = self.buttons.iter().copied().map(OwaMouseButton::of);
        OwaMouseState {
            x: self.x,
            y: self.y,
            buttons: buttons.collect(),
            timestamp,
        }
    }
}

impl WindowInfo {
    /// In the words of Open World Agents.
    pub fn to_owa(&self) -> OwaWindowInfo {
        let Rect {
            x,
            y,
            width,
            height,
        } = self.rect;
        OwaWindowInfo {
            title: self.title.clone(),
            rect: [
                x,
                y,
                x.saturating_add_unsigned(width),
                y.saturating_add_unsigned(height),
            ],
            window: self.id.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_core::clock::SystemClock;

    use super::*;
    use crate::listen::event::{Tick, WindowEvent, WindowEventKind};

    const T: Duration = Duration::from_secs(5);

    fn json(event: &Event) -> String {
        serde_json::to_string(&event.to_owa(None).unwrap()).unwrap()
    }

    fn input(kind: InputKind, fill: impl FnOnce(&mut InputEvent)) -> Event {
        let mut event = InputEvent::new(T, kind);
        fill(&mut event);
        Event::Input(event)
    }

    #[test]
    fn keys_are_numbers_of_windows() {
        let press = input(InputKind::KeyPress, |event| event.vk = Some(0x79));
        assert_eq!(json(&press), r#"{"event_type":"press","vk":121}"#);
        let unknown = input(InputKind::KeyRelease, |_| {});
        assert_eq!(json(&unknown), r#"{"event_type":"release","vk":-1}"#);
        assert_eq!(
            unknown.to_owa(None).unwrap().name(),
            "desktop/KeyboardEvent"
        );
    }

    #[test]
    fn the_mouse_moves_clicks_and_scrolls_up() {
        let at = |event: &mut InputEvent| (event.x, event.y) = (Some(3), Some(4));
        let motion = input(InputKind::Motion, at);
        assert_eq!(json(&motion), r#"{"event_type":"move","x":3,"y":4}"#);
        let click = input(InputKind::ButtonRelease, |event| {
            at(event);
            event.button = Some(9);
        });
        assert_eq!(
            json(&click),
            r#"{"event_type":"click","x":3,"y":4,"button":"x2","pressed":false}"#
        );
        let scroll = input(InputKind::Scroll, |event| {
            at(event);
            (event.dx, event.dy) = (Some(0), Some(1));
        });
        assert_eq!(
            json(&scroll),
            r#"{"event_type":"scroll","x":3,"y":4,"dx":0,"dy":-1}"#
        );
    }

    #[test]
    fn states_and_windows() {
        let keyboard = Event::KeyboardState(KeyboardStateEvent {
            t: T,
            keys: vec!["Right".to_owned()],
            vks: vec![0x27, 0xa0],
        });
        assert_eq!(json(&keyboard), r#"{"buttons":[39,160]}"#);
        let mouse = Event::MouseState(MouseStateEvent {
            t: T,
            x: 0,
            y: 9,
            buttons: vec![3, 1],
        });
        assert_eq!(json(&mouse), r#"{"x":0,"y":9,"buttons":["left","right"]}"#);
        let mut focus = WindowEvent {
            t: T,
            kind: WindowEventKind::Focus,
            window: Some(WindowInfo {
                id: 7,
                title: "xterm".to_owned(),
                class: "XTerm".to_owned(),
                pid: None,
                rect: Rect {
                    x: -5,
                    y: 10,
                    width: 100,
                    height: 50,
                },
                desktop: None,
                hidden: false,
            }),
        };
        assert_eq!(
            json(&Event::Window(focus.clone())),
            r#"{"title":"xterm","rect":[-5,10,95,60],"hWnd":7}"#
        );
        focus.window = None;
        assert_eq!(Event::Window(focus).to_owa(None), None);
        assert_eq!(Event::Tick(Tick { t: T, number: 1 }).to_owa(None), None);
    }

    #[test]
    fn timestamps_are_of_the_wall() {
        let clock = SystemClock::default();
        let before = clock.now().as_nanosecond();
        let wall = WallTime::of(&clock);
        let event = Event::Input(InputEvent::new(monotonic(), InputKind::KeyPress));
        let Some(OwaMessage::KeyboardEvent(message)) = event.to_owa(Some(wall)) else {
            panic!("a key");
        };
        let stamp = i128::from(message.timestamp.unwrap());
        // The wall clock may be set meanwhile, but not by a day.
        assert!(
            (stamp - before).abs() < 86_400_000_000_000,
            "{stamp} {before}"
        );
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(
            serde_json::from_str::<OwaKeyboardEvent>(&text).unwrap(),
            message
        );
        assert!(serde_json::from_str::<OwaKeyboardEvent>(&text.replace("vk", "key")).is_err());
    }
}
