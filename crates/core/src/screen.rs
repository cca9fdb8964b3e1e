//! What a screen showed at one moment: its size, pointer, active window and picture. A picture's
//! bytes travel beside what is recorded and never in it: an event names them by their digest. Knows
//! nothing of how a screen is captured, encoded or stored.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::sight::Surroundings;

/// How much is kept of a window's title and class. Any program can set them to anything.
pub const LONGEST_NAME: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenView {
    pub width: u32,
    pub height: u32,
    /// Where the pointer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<ScreenPoint>,
    /// The active window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowView>,
    pub picture: Picture,
}

/// A pixel, from the screen's upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenPoint {
    pub x: i32,
    pub y: i32,
}

/// A window; its place may reach out of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowView {
    title: String,
    class: String,
    /// As the window says, which may be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

impl WindowView {
    /// Title and class are the window's own words: cut to [`LONGEST_NAME`] characters, and control
    /// characters, which could write over a terminal, are replaced.
    pub fn new(
        title: &str,
        class: &str,
        pid: Option<u32>,
        at: ScreenPoint,
        (width, height): (u32, u32),
    ) -> Self {
        Self {
            title: name(title),
            class: name(class),
            pid,
            x: at.x,
            y: at.y,
            width,
            height,
        }
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn class(&self) -> &str {
        &self.class
    }
}

fn name(words: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    words.chars().take(LONGEST_NAME).map(plain).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PictureFormat {
    Png,
    /// Lossless.
    Webp,
    Jpeg,
}

impl PictureFormat {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Jpeg => "jpeg",
        }
    }
}

impl fmt::Display for PictureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An encoded picture, named by the digest of its bytes. A record has no more than that of it; the
/// bytes are in the blob.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    pub format: PictureFormat,
    pub blob: Digest,
    pub bytes: u64,
    #[serde(skip)]
    data: Option<Arc<[u8]>>,
}

impl Picture {
    pub fn new(format: PictureFormat, data: impl Into<Arc<[u8]>>) -> Self {
        let data = data.into();
        Self {
            format,
            blob: Digest::of(&data),
            bytes: data.len() as u64,
            data: Some(data),
        }
    }

    /// As it stands in a record.
    pub fn without_data(&self) -> Self {
        Self {
            data: None,
            ..self.clone()
        }
    }

    /// The encoded picture, unless it was read from a record.
    pub fn data(&self) -> Option<&[u8]> {
        self.data.as_deref()
    }
}

/// The digest stands for the bytes, so a picture equals its record.
impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        (self.format, self.blob, self.bytes) == (other.format, other.blob, other.bytes)
    }
}

impl Eq for Picture {}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            format,
            blob,
            bytes,
            data: _,
        } = self;
        write!(f, "Picture({format}, {bytes} bytes, {})", blob.short())
    }
}

/// A screen that was recorded apart from any observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenRecord {
    pub what: ScreenMoment,
    pub screen: ScreenView,
    /// Other windows and programs, where they matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Surroundings>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScreenMoment {
    /// The first one, before the agent did anything.
    Ready,
    /// The last one, after the agent's turn.
    Final,
    /// One of a stream.
    Frame,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> ScreenView {
        ScreenView {
            width: 1280,
            height: 800,
            cursor: Some(ScreenPoint { x: 0, y: 799 }),
            window: Some(WindowView::new(
                "xterm",
                "XTerm",
                Some(7),
                ScreenPoint { x: -3, y: 20 },
                (484, 316),
            )),
            picture: Picture::new(PictureFormat::Png, b"pixels".as_slice()),
        }
    }

    #[test]
    fn a_picture_is_recorded_by_its_digest_alone() {
        let view = view();
        let text = serde_json::to_string(&view).unwrap();
        assert_eq!(
            text,
            format!(
                r#"{{"width":1280,"height":800,"cursor":{{"x":0,"y":799}},"window":{{"title":"xterm","class":"XTerm","pid":7,"x":-3,"y":20,"width":484,"height":316}},"picture":{{"format":"png","blob":"{}","bytes":6}}}}"#,
                Digest::of(b"pixels")
            )
        );
        let read: ScreenView = serde_json::from_str(&text).unwrap();
        assert_eq!(read, view);
        assert_eq!(read.picture.data(), None);
        assert_eq!(view.picture.data(), Some(b"pixels".as_slice()));
    }

    #[test]
    fn a_copy_of_a_picture_shares_its_bytes() {
        let picture = view().picture;
        let copy = picture.clone();
        assert!(std::ptr::eq(picture.data().unwrap(), copy.data().unwrap()));
    }

    #[test]
    fn pictures_differ_by_content_and_format_and_never_show_their_bytes() {
        let png = Picture::new(PictureFormat::Png, vec![7; 100_000]);
        assert_eq!(png, Picture::new(PictureFormat::Png, vec![7; 100_000]));
        assert_ne!(png, Picture::new(PictureFormat::Webp, vec![7; 100_000]));
        assert_ne!(png, Picture::new(PictureFormat::Png, vec![8; 100_000]));
        assert!(format!("{png:?}").len() < 100);
    }

    #[test]
    fn what_windows_say_of_themselves_is_bounded() {
        let window = |title: &str, class: &str| {
            WindowView::new(title, class, None, ScreenPoint { x: 0, y: 0 }, (1, 1))
        };
        let long = window(&"\u{1f600}".repeat(100_000), &"c".repeat(100_000));
        assert_eq!(long.title().chars().count(), LONGEST_NAME);
        assert_eq!(long.class().len(), LONGEST_NAME);
        let rude = window("a\u{1b}[2Jb\nc", "ok");
        assert_eq!(rude.title(), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(rude.class(), "ok");
    }
}
