//! An attempt that was played in real time, on one axis of time: frames, input, actions, judgements of the
//! screen. One pass over the whole record, bounded.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use agon_core::Digest;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::brief;
use super::peek::{RecordPeek, SeenPeek};
use super::record::Record;
use crate::error::ViewerError;
use crate::shape::Track;

/// Entries of all kinds together.
const MOST: usize = 200_000;

/// Input and answers that are reported at once, and what is measured of a play, have at most so many bytes.
const LONGEST_PART: usize = 512 << 10;

/// Observations that an action may still answer.
const REMEMBERED: usize = 64;

/// Bytes of names that are kept: of keys, of tests.
const LONGEST_NAME: usize = 100;

#[derive(Debug, Deserialize)]
struct Moment<'a> {
    seq: Option<u64>,
    #[serde(default)]
    t: f64,
    cause: Option<u64>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Cow<'a, str>,
    #[serde(borrow)]
    observation: Option<SeenPeek<'a>>,
    #[serde(borrow)]
    screen: Option<RecordPeek<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    look: Option<LookPeek>,
    #[serde(borrow)]
    reacted: Option<&'a RawValue>,
    #[serde(borrow)]
    play: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct LookPeek {
    test: String,
    holds: bool,
    value: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Reacted {
    answers: Vec<Answer>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    t: f64,
    latency: f64,
}

#[derive(Debug, Default)]
struct Tracker {
    track: Track,
    numbers: HashMap<Digest, u32>,
    steps: u32,
    /// The last observations: number and time.
    seen: VecDeque<(u64, f64)>,
    entries: usize,
}

pub(super) fn track(record: &Record) -> Result<Track, ViewerError> {
    let mut tracker = Tracker::default();
    record.each(|line| {
        if let Ok(moment) = serde_json::from_slice(line) {
            tracker.take(moment);
        }
    })?;
    let mut track = tracker.track;
    track.duration = record.kept().outline.duration;
    // What keyboard and mouse did is reported later than it happened.
    track.inputs.sort_by(|a, b| a.0.total_cmp(&b.0));
    track.answers.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(track)
}

impl Tracker {
    fn take(&mut self, moment: Moment<'_>) {
        let t = moment.t;
        let seen = moment.observation.as_ref().and_then(|o| o.screen.as_ref());
        let shown = moment.screen.as_ref().and_then(|s| s.screen.as_ref());
        if let Some(screen) = seen.or(shown) {
            self.frame(t, screen.picture.blob);
        }
        match moment.kind.as_ref() {
            "action" | "refused" if moment.source == "agent" => {
                self.steps = self.steps.saturating_add(1);
                if self.has_room() {
                    let seen = self.answered(moment.cause);
                    let since = seen.map(|seen| (t - seen).max(0.0));
                    self.track.actions.push((t, self.steps, since));
                }
            }
            "observation" => {
                if self.seen.len() == REMEMBERED {
                    self.seen.pop_front();
                }
                self.seen.extend(moment.seq.map(|seq| (seq, t)));
            }
            "reacted" => {
                let reacted: Option<Reacted> = parsed(moment.reacted);
                if reacted.is_none() {
                    self.track.omitted = self.track.omitted.saturating_add(1);
                }
                for answer in reacted.map_or_else(Vec::new, |told| told.answers) {
                    if self.has_room() {
                        let latency = answer.latency.max(0.0);
                        self.track.answers.push((answer.t, latency));
                    }
                }
            }
            "input" => {
                let inputs: Option<Vec<Value>> = parsed(moment.input);
                if inputs.is_none() {
                    self.track.omitted = self.track.omitted.saturating_add(1);
                }
                for input in inputs.unwrap_or_default() {
                    self.input(t, &input);
                }
            }
            "look" => {
                if let Some(look) = moment.look.filter(|_| self.has_room()) {
                    let test = name(&look.test);
                    self.track.looks.push((t, test, look.holds, look.value));
                }
            }
            "play" => self.track.play = parsed(moment.play),
            _ => {}
        }
    }

    /// When what an action answers was seen: frames in between are a sample for those who look, which no
    /// agent was given.
    fn answered(&self, cause: Option<u64>) -> Option<f64> {
        let seen = match cause {
            Some(cause) => self.seen.iter().find(|(seq, _)| *seq == cause),
            None => self.seen.back(),
        };
        seen.map(|(_, t)| *t)
    }

    fn has_room(&mut self) -> bool {
        let room = self.entries < MOST;
        match room {
            true => self.entries += 1,
            false => self.track.omitted = self.track.omitted.saturating_add(1),
        }
        room
    }

    fn frame(&mut self, t: f64, blob: Digest) {
        if !self.has_room() {
            return;
        }
        let blobs = &mut self.track.blobs;
        let number = *self.numbers.entry(blob).or_insert_with(|| {
            blobs.push(blob.to_hex());
            u32::try_from(blobs.len() - 1).unwrap_or(u32::MAX)
        });
        self.track.frames.push((t, number));
    }

    fn input(&mut self, reported: f64, input: &Value) {
        if !self.has_room() {
            return;
        }
        let text = |field: &str| input.get(field).and_then(Value::as_str).map(name);
        let whole = |field: &str| input.get(field).and_then(Value::as_i64);
        let pair = |x: Option<i64>, y: Option<i64>| Some(format!("{},{}", x?, y?));
        let t = input.get("t").and_then(Value::as_f64).unwrap_or(reported);
        let kind = text("kind").unwrap_or_default();
        let what = match kind.as_str() {
            "motion" => pair(whole("x"), whole("y")),
            "scroll" => pair(whole("dx"), whole("dy")),
            "button_press" | "button_release" => whole("button").map(|button| button.to_string()),
            _ => text("key").or_else(|| whole("keycode").map(|code| code.to_string())),
        };
        self.track.inputs.push((t, kind, what.unwrap_or_default()));
    }
}

/// `None`: it is another thing, or too much of it.
fn parsed<T: DeserializeOwned>(part: Option<&RawValue>) -> Option<T> {
    let text = part?.get();
    let fits = text.len() <= LONGEST_PART;
    fits.then(|| serde_json::from_str(text).ok()).flatten()
}

fn name(text: &str) -> String {
    let mut name = brief::words(text);
    let mut end = name.len().min(LONGEST_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}
