//! What can be asked about a screen and what stands around it, as data, and what was found. How it is
//! found out is the business of the crates that see; nothing here knows pixels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::TextTest;
use crate::screen::{Picture, ScreenPoint, WindowView};

/// A rectangle of a screen, from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

/// A question about a screen. It holds or it does not.
#[derive(Debug, Clone, PartialEq)]
pub enum SightTest {
    /// What can be read; without a region, on the whole screen.
    Text {
        region: Option<Region>,
        tests: Vec<TextTest>,
        number: Option<NumberTest>,
    },
    /// One pixel; each channel may differ by `tolerance`.
    Pixel {
        at: ScreenPoint,
        colour: Colour,
        tolerance: u8,
    },
    /// Compared with the screen before the agent did anything: at least `share` (0 to 1) of the pixels
    /// differ, or, with `changed: false`, less than that.
    Changed {
        region: Option<Region>,
        share: f64,
        changed: bool,
    },
    /// A picture (PNG, below `verify/`) is found somewhere, with a likeness from 0 to 1.
    Template {
        path: String,
        region: Option<Region>,
        likeness: f64,
        shown: bool,
    },
    /// A window with this title is there.
    Window { title: TitleTest, exists: bool },
    /// A program of `apps`, named by a part of its command line.
    Process { app: String, state: ProcessTest },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TitleTest {
    Contains(String),
    /// A regular expression, found anywhere unless anchored.
    Matches(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessTest {
    Alive(bool),
    /// It has ended with this status.
    Exited(i32),
}

/// A number among what can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberTest {
    /// The word before it; without one, the first number there is.
    pub after: Option<String>,
    /// How it is written.
    pub form: NumberForm,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// A number of seconds of play: more than were played can't be right.
    pub within_play: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NumberForm {
    /// `1250`, `-3.5`, `1,250`.
    #[default]
    Plain,
    /// `12:34`: 12 seconds and 34 hundredths.
    SecondsHundredths,
    /// `02:05`: 2 minutes and 5 seconds; `02:05.5` has a fraction.
    MinutesSeconds,
}

/// What stands around a screen at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Surroundings {
    pub windows: Vec<WindowView>,
    /// How many windows there were beyond those: more than can be looked at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub windows_left_out: u64,
    /// The programs that the task started, in its order.
    pub apps: Vec<AppView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppView {
    pub command: String,
    /// Its exit status; while it runs, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The agent's programs were kept from its memory, so that nobody made it end as it did but itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A judgement of a screen while a trial was played, with the picture that it was made on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    /// What was asked.
    pub test: String,
    pub holds: bool,
    /// What was found, in words.
    pub found: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// From 0 to 1, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why it should not be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    pub picture: Picture,
}

impl SightTest {
    /// How the test is called in reports.
    pub fn label(&self) -> String {
        match self {
            Self::Text {
                number: Some(number),
                ..
            } => match &number.after {
                Some(word) => format!("screen_text number after {word}"),
                None => "screen_text number".to_owned(),
            },
            Self::Text { .. } => "screen_text".to_owned(),
            Self::Pixel { at, .. } => format!("pixel {},{}", at.x, at.y),
            Self::Changed { .. } => "region_changed".to_owned(),
            Self::Template { path, .. } => format!("template {path}"),
            Self::Window {
                title: TitleTest::Contains(title) | TitleTest::Matches(title),
                ..
            } => format!("window {title}"),
            Self::Process { app, .. } => format!("process {app}"),
        }
    }
}
