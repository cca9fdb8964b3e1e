//! The steps of an attempt. A step is one action of the agent with what led to it and what came of it;
//! its events are given as they are recorded, so that kinds of a later version are shown too.

use agon_core::{Picture, ScreenPoint};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A step in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepRow {
    /// 0: before the first action; 1 to n: actions, as judges cite them; n + 1: after the turn, or the end
    /// without one.
    pub n: u32,
    /// Seconds since the attempt began, of the action.
    pub t: f64,
    /// Kind of the action (`click`, `run`), or `setup` and `end`.
    pub kind: String,
    /// The action in a few words.
    pub brief: String,
    /// Blob of the screen after it; the same as before it where nothing changed.
    pub shot: Option<String>,
    /// The screen is another one than before.
    pub changed: bool,
    /// It was refused, or could not be carried out.
    pub failed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Steps {
    /// Of all steps, the first and the last included.
    pub total: u32,
    pub from: u32,
    pub rows: Vec<StepRow>,
}

/// A screen as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shot {
    pub picture: Picture,
    pub width: u32,
    pub height: u32,
    pub cursor: Option<ScreenPoint>,
    /// Title of the active window.
    pub window: Option<String>,
    pub t: f64,
}

/// One step, whole.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    #[serde(flatten)]
    pub row: StepRow,
    /// When the next step begins.
    pub until: f64,
    /// The screen that the agent saw when it acted.
    pub before: Option<Shot>,
    /// The screen once the action had taken effect.
    pub after: Option<Shot>,
    /// As recorded, in order. Strings over 64 KiB are cut, and `cut` of the event says so; the whole
    /// event is at `/events/{seq}`. At most 500; `more` of them are left out.
    pub events: Vec<Value>,
    pub more: u32,
}

/// Frames, input and actions of an attempt that was played in real time, on one axis of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Track {
    pub duration: f64,
    /// Blobs of frames, each once.
    pub blobs: Vec<String>,
    /// When a frame was there, and which of `blobs` it is.
    pub frames: Vec<(f64, u32)>,
    /// What keyboard and mouse did: when, kind, and what (`Left`, `1`).
    pub inputs: Vec<(f64, String, String)>,
    /// Actions: when, step, and seconds since the observation that it answers.
    pub actions: Vec<(f64, u32, Option<f64>)>,
    /// What a player did by itself: when it answered a frame, and seconds since it was given that.
    pub answers: Vec<(f64, f64)>,
    /// Judgements of the screen: when, test, whether it holds, value.
    pub looks: Vec<(f64, String, bool, Option<f64>)>,
    /// Measurements at the end, as recorded.
    pub play: Option<Value>,
    /// Left out because there are too many.
    pub omitted: u32,
}
