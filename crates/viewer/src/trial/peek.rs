//! As much of a recorded event as its place among the steps needs. Everything else in its line is passed over.

use std::borrow::Cow;

use agon_core::{Digest, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::bounded;

#[derive(Debug, Deserialize)]
pub(super) struct Peek<'a> {
    pub(super) seq: u64,
    pub(super) t: f64,
    #[serde(borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) source: Cow<'a, str>,
    pub(super) cause: Option<u64>,
    #[serde(borrow, default)]
    pub(super) at: Cow<'a, str>,
    pub(super) phase: Option<String>,
    #[serde(default, deserialize_with = "bounded::action")]
    pub(super) action: Option<Value>,
    pub(super) refused: Option<String>,
    #[serde(borrow)]
    pub(super) observation: Option<SeenPeek<'a>>,
    #[serde(borrow)]
    pub(super) screen: Option<RecordPeek<'a>>,
    pub(super) end: Option<String>,
    pub(super) model: Option<ModelPeek>,
    pub(super) reacted: Option<ReactedPeek>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SeenPeek<'a> {
    #[serde(borrow, default)]
    pub(super) kind: Cow<'a, str>,
    pub(super) screen: Option<ScreenPeek>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RecordPeek<'a> {
    #[serde(borrow, default)]
    pub(super) what: Cow<'a, str>,
    pub(super) screen: Option<ScreenPeek>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ScreenPeek {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) picture: PicturePeek,
}

#[derive(Debug, Deserialize)]
pub(super) struct PicturePeek {
    pub(super) blob: Digest,
}

#[derive(Debug, Deserialize)]
pub(super) struct ModelPeek {
    #[serde(default)]
    pub(super) usage: Usage,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReactedPeek {
    /// Of a player, so far.
    pub(super) steps: u64,
}

/// What every event has, whatever is wrong with the rest of it.
#[derive(Debug, Deserialize)]
struct Least<'a> {
    seq: u64,
    #[serde(default)]
    t: f64,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Cow<'a, str>,
}

impl<'a> Peek<'a> {
    /// `None`: the line is no event.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        if let Ok(peek) = serde_json::from_slice(line) {
            return Some(peek);
        }
        // Fields that a later version writes otherwise must not hide the event.
        let least: Least<'_> = serde_json::from_slice(line).ok()?;
        Some(Self {
            seq: least.seq,
            t: least.t,
            kind: least.kind,
            source: least.source,
            cause: None,
            at: Cow::default(),
            phase: None,
            action: None,
            refused: None,
            observation: None,
            screen: None,
            end: None,
            model: None,
            reacted: None,
        })
    }

    /// The screen that it shows.
    pub(super) fn sight(&self) -> Option<&ScreenPeek> {
        let seen = self.observation.as_ref().and_then(|o| o.screen.as_ref());
        seen.or_else(|| self.screen.as_ref().and_then(|s| s.screen.as_ref()))
    }

    pub(super) fn is_frame(&self) -> bool {
        self.screen.as_ref().is_some_and(|s| s.what == "frame")
    }
}

/// The first line of a file of events.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) format: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_not_as_expected_hides_no_event() {
        let line =
            br#"{"seq":3,"t":1.5,"source":"environment","kind":"observation","observation":[1]}"#;
        let peek = Peek::of(line).unwrap();
        assert_eq!(
            (peek.seq, peek.t, peek.kind.as_ref()),
            (3, 1.5, "observation")
        );
        assert!(peek.sight().is_none());
        assert!(Peek::of(br#"{"seq":3,"t":1.5,"kind":"#).is_none());
        assert!(Peek::of(b"[]").is_none());
    }

    #[test]
    fn strings_with_escapes_are_read() {
        let peek =
            Peek::of(br#"{"seq":0,"t":0,"source":"ag\u0065nt","kind":"no\u0074e","note":"a\"b"}"#);
        assert_eq!(peek.unwrap().kind, "note");
    }
}
