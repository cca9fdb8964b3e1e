//! One line of a data file, as its writers write it: the names of ScreenSpot and its kin beside our own.

use agon_core::prediction::{TargetBox, UiAction, Window};
use serde::Deserialize;
use serde_json::Value;

use crate::parse::{ParseError, parse};

/// Where a click must land, and on what.
#[derive(Debug, Deserialize)]
pub(super) struct PointLine {
    #[serde(default)]
    pub(super) id: Option<Name>,
    #[serde(alias = "img_filename", alias = "image_path", alias = "img_path")]
    pub(super) image: String,
    #[serde(alias = "prompt_to_evaluate")]
    pub(super) instruction: String,
    #[serde(alias = "box", alias = "target")]
    pub(super) bbox: [f64; 4],
    /// What it is counted with. ScreenSpot-Pro has two of these in a line, so that they can't be one field.
    #[serde(default)]
    pub(super) group: Option<String>,
    #[serde(default)]
    pub(super) data_source: Option<String>,
    #[serde(default)]
    pub(super) platform: Option<String>,
}

/// What is to be done in the active window. These lines are written for us alone: what is not known is a
/// slip of the pen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionLine {
    #[serde(default)]
    pub(super) id: Option<Name>,
    #[serde(alias = "ref_window")]
    pub(super) reference_window: Window,
    #[serde(alias = "action")]
    pub(super) actions: OneOrMore,
    pub(super) active_window: Window,
    /// Without it: the actions, moved and scaled with the window.
    #[serde(default)]
    pub(super) expected: Option<OneOrMore>,
    #[serde(default, alias = "img_filename", alias = "image_path")]
    pub(super) image: Option<String>,
    #[serde(default)]
    pub(super) group: Option<String>,
    /// For whatever its writer wants to remember.
    #[serde(default, rename = "meta")]
    pub(super) _meta: Option<serde::de::IgnoredAny>,
}

/// Ids are text or numbers.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Name {
    Text(String),
    Number(i64),
}

impl Name {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// One action or a list of them, not looked into yet: what is wrong with one is to be told.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct OneOrMore(Value);

impl OneOrMore {
    pub(super) fn list(self, field: &str) -> Result<Vec<UiAction>, String> {
        match self.0 {
            Value::Array(entries) => entries
                .into_iter()
                .enumerate()
                .map(|(nth, entry)| action(&entry, &format!("{field}[{nth}]")))
                .collect(),
            one => Ok(vec![action(&one, field)?]),
        }
    }
}

fn action(value: &Value, name: &str) -> Result<UiAction, String> {
    UiAction::deserialize(value).map_err(|error| {
        // What reads answers says more about what is wrong than what reads files.
        let why = match parse(&value.to_string()) {
            Err(ParseError::Refused { why, .. }) => why,
            _ => error.to_string(),
        };
        format!("`{name}`: {why}")
    })
}

/// How four numbers say a box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BoxForm {
    /// Left, top, width, height: ScreenSpot and ScreenSpot-v2.
    #[default]
    LeftTopWidthHeight,
    /// Left, top, right, bottom: ScreenSpot-Pro.
    LeftTopRightBottom,
}

impl BoxForm {
    /// The other one, as the command line names it.
    pub(super) const fn other(self) -> &'static str {
        match self {
            Self::LeftTopWidthHeight => "xyxy",
            Self::LeftTopRightBottom => "xywh",
        }
    }

    /// `None`: no box at all.
    pub(super) fn target(self, numbers: [f64; 4]) -> Option<TargetBox> {
        let [left, top, third, fourth] = numbers;
        let (width, height) = match self {
            Self::LeftTopWidthHeight => (third, fourth),
            Self::LeftTopRightBottom => (third - left, fourth - top),
        };
        let sound = numbers.iter().all(|number| number.is_finite()) && width > 0.0 && height > 0.0;
        sound.then_some(TargetBox {
            left,
            top,
            width,
            height,
        })
    }
}
