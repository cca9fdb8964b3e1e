//! Predicted actions, as data: windows, key and mouse actions, and what is recorded of a prediction that
//! was scored. How answers are read and scored is the business of the `predict` crate.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::digest::Digest;

/// A window on a screen, as it is told to a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    #[serde(default)]
    pub title: String,
    pub left: i64,
    pub top: i64,
    pub width: i64,
    pub height: i64,
    #[serde(default)]
    pub window_id: i64,
    #[serde(default)]
    pub meta: Map<String, Value>,
}

impl Window {
    /// From corner to corner, in pixels.
    pub fn diagonal(&self) -> f64 {
        (self.width as f64).hypot(self.height as f64)
    }

    /// Whether a point is in it; its edges belong to it. In floating point, since a window from a
    /// file may end beyond the largest whole number.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        let within = |value: f64, start: i64, length: i64| {
            (start as f64..=start as f64 + length as f64).contains(&value)
        };
        within(x, self.left, self.width) && within(y, self.top, self.height)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyActionName {
    Press,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseActionName {
    Click,
    Move,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyAction {
    pub name: KeyActionName,
    pub key_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MouseAction {
    pub name: MouseActionName,
    #[serde(serialize_with = "plainly")]
    pub mouse_x: f64,
    #[serde(serialize_with = "plainly")]
    pub mouse_y: f64,
    pub mouse_button_name: String,
    pub mouse_pressed: bool,
    #[serde(default)]
    pub element_state: Map<String, Value>,
}

/// Whole pixels without a fraction, as people and programs write them.
fn plainly<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    /// Up to here every whole number has a place among the floating ones.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

/// One action of keyboard or mouse.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum UiAction {
    Mouse(MouseAction),
    Key(KeyAction),
}

impl UiAction {
    /// `click`, `move`, `press`, `release`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mouse(action) => match action.name {
                MouseActionName::Click => "click",
                MouseActionName::Move => "move",
            },
            Self::Key(action) => match action.name {
                KeyActionName::Press => "press",
                KeyActionName::Release => "release",
            },
        }
    }
}

impl From<MouseAction> for UiAction {
    fn from(action: MouseAction) -> Self {
        Self::Mouse(action)
    }
}

impl From<KeyAction> for UiAction {
    fn from(action: KeyAction) -> Self {
        Self::Key(action)
    }
}

/// The names tell the two kinds apart, so that a report of many thousand actions is read in one pass: what
/// is derived keeps each action aside and tries one kind after the other.
impl<'de> Deserialize<'de> for UiAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let any = AnyAction::deserialize(deserializer)?;
        let lacks = |field: &'static str| move || D::Error::missing_field(field);
        let key = |name, any: AnyAction| {
            let key_name = any.key_name.ok_or_else(lacks("key_name"))?;
            Ok(Self::Key(KeyAction { name, key_name }))
        };
        let mouse = |name, any: AnyAction| {
            Ok(Self::Mouse(MouseAction {
                name,
                mouse_x: any.mouse_x.ok_or_else(lacks("mouse_x"))?,
                mouse_y: any.mouse_y.ok_or_else(lacks("mouse_y"))?,
                mouse_button_name: any
                    .mouse_button_name
                    .ok_or_else(lacks("mouse_button_name"))?,
                mouse_pressed: any.mouse_pressed.ok_or_else(lacks("mouse_pressed"))?,
                element_state: any.element_state,
            }))
        };
        match any.name {
            AnyName::Press => key(KeyActionName::Press, any),
            AnyName::Release => key(KeyActionName::Release, any),
            AnyName::Click => mouse(MouseActionName::Click, any),
            AnyName::Move => mouse(MouseActionName::Move, any),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnyName {
    Press,
    Release,
    Click,
    Move,
}

/// The fields of both kinds.
#[derive(Deserialize)]
struct AnyAction {
    name: AnyName,
    key_name: Option<String>,
    mouse_x: Option<f64>,
    mouse_y: Option<f64>,
    mouse_button_name: Option<String>,
    mouse_pressed: Option<bool>,
    #[serde(default)]
    element_state: Map<String, Value>,
}

/// A box in pixels, from its upper left corner; its right and lower edges belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetBox {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl TargetBox {
    pub fn contains(&self, x: f64, y: f64) -> bool {
        (self.left..=self.left + self.width).contains(&x)
            && (self.top..=self.top + self.height).contains(&y)
    }

    pub fn centre(&self) -> (f64, f64) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }
}

/// Begins the note of a trial whose prompt was longer than it may be.
pub const CUT_PROMPT: &str = "the prompt was cut";
/// The note of a trial whose model ran out of tokens before it had answered.
pub const CUT_ANSWER: &str = "the answer was cut at max_tokens";

/// Characters that are kept of a question, and of an answer.
const KEPT: usize = 300;

/// The beginning of a text that somebody else wrote, for a record.
pub fn beginning(text: &str) -> String {
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A prediction that was scored: everything that a report shows of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoredPrediction {
    /// `action`, `hit`, ...
    pub metric: String,
    /// The fixture or the file that it came from.
    pub group: String,
    /// Whether the answer could be read.
    pub parsed: bool,
    /// Why not, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What was asked, in words: how it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// How the answer begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Where the actions are to be done; for pictures, the whole of it.
    pub window: Window,
    /// The window of the example, and what was done there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_window: Option<Window>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<UiAction>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<UiAction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetBox>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<UiAction>,
    /// One per expected action, in order; what was not predicted is 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<ActionScore>,
    /// The picture that the model saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Digest>,
}

/// How one expected action was met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionScore {
    /// `click`, `move`, `press`, `release`.
    pub kind: String,
    pub score: f64,
    /// Which of the predicted actions was compared, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<usize>,
    /// Pixels between the expected and the predicted point, as a share of the window's diagonal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_belong_to_windows_and_boxes() {
        let window = Window {
            left: 10,
            top: 20,
            width: 30,
            height: 40,
            ..Window::default()
        };
        assert_eq!(window.diagonal(), 50.0);
        for (x, y) in [(10.0, 20.0), (40.0, 60.0), (25.5, 30.0)] {
            assert!(window.contains(x, y), "{x} {y}");
        }
        for (x, y) in [(9.9, 20.0), (40.1, 20.0), (10.0, 60.1), (f64::NAN, 30.0)] {
            assert!(!window.contains(x, y), "{x} {y}");
        }
        let target = TargetBox {
            left: 10.0,
            top: 20.0,
            width: 30.0,
            height: 40.0,
        };
        assert!(target.contains(40.0, 60.0) && target.contains(10.0, 20.0));
        assert!(!target.contains(40.1, 60.0) && !target.contains(f64::INFINITY, 30.0));
        assert_eq!(target.centre(), (25.0, 40.0));
    }

    #[test]
    fn a_window_beyond_the_largest_number_holds_its_points() {
        let window = Window {
            left: i64::MAX,
            width: i64::MAX,
            height: 1,
            ..Window::default()
        };
        assert!(window.contains(i64::MAX as f64 * 1.5, 0.0));
        assert!(window.diagonal().is_finite());
    }

    #[test]
    fn actions_know_their_name_and_are_written_plainly() {
        let click = MouseAction {
            name: MouseActionName::Click,
            mouse_x: 1.0,
            mouse_y: 2.0,
            mouse_button_name: "left".to_owned(),
            mouse_pressed: true,
            element_state: Map::new(),
        };
        let release = KeyAction {
            name: KeyActionName::Release,
            key_name: "a".to_owned(),
        };
        let text = serde_json::to_string(&UiAction::from(click.clone())).unwrap();
        assert!(text.contains(r#""mouse_x":1,"mouse_y":2,"#), "{text}");
        let read: UiAction = serde_json::from_str(&text).unwrap();
        assert_eq!(read, UiAction::from(click.clone()));
        assert_eq!(UiAction::from(click).name(), "click");
        assert_eq!(UiAction::from(release).name(), "release");
    }

    #[test]
    fn what_an_action_lacks_is_named() {
        let lacking = [
            (r#"{"name": "press"}"#, "key_name"),
            (r#"{"name": "move", "mouse_x": 1}"#, "mouse_y"),
            (r#"{"name": "drag", "mouse_x": 1, "mouse_y": 2}"#, "drag"),
            (r#"{"key_name": "a"}"#, "name"),
        ];
        for (text, what) in lacking {
            let error = serde_json::from_str::<UiAction>(text).unwrap_err();
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
