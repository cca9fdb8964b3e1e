//! Screens and pictures as they are sent to an agent: what is recorded of them, and the pictures
//! themselves. Knows nothing of transports. The size of what is sent is bounded here, whatever they
//! show.

use agon_core::screen::{PictureFormat, ScreenPoint, ScreenView, WindowView};
use agon_core::{Digest, Picture};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

use crate::contract::Pictures;

/// The largest picture that is sent, before it is written as base64: that of a screen of 1920x1080
/// fits whatever it shows. A larger one is only named.
pub const MAX_PICTURE: usize = 8 << 20;

#[derive(Debug, Serialize)]
pub struct SentScreen<'a> {
    width: u32,
    height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<ScreenPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<&'a WindowView>,
    picture: SentPicture<'a>,
}

#[derive(Debug, Serialize)]
pub struct SentPicture<'a> {
    format: PictureFormat,
    bytes: u64,
    blob: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<Base64<'a>>,
}

impl<'a> SentScreen<'a> {
    pub(crate) fn new(screen: &'a ScreenView, pictures: Pictures) -> Self {
        // Taken apart in full, so that a new field can't be forgotten here.
        let ScreenView {
            width,
            height,
            cursor,
            window,
            picture,
        } = screen;
        Self {
            width: *width,
            height: *height,
            cursor: *cursor,
            window: window.as_ref(),
            picture: SentPicture::new(picture, pictures),
        }
    }
}

impl<'a> SentPicture<'a> {
    pub(crate) fn new(picture: &'a Picture, pictures: Pictures) -> Self {
        let wanted = picture.data().filter(|_| pictures == Pictures::Wanted);
        Self {
            format: picture.format,
            bytes: picture.bytes,
            blob: picture.blob,
            base64: wanted.filter(|data| data.len() <= MAX_PICTURE).map(Base64),
        }
    }
}

/// Encoded only while the message is written: it is larger than everything else in it.
struct Base64<'a>(&'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self.0))
    }
}

impl std::fmt::Debug for Base64<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Base64({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn screen(data: &[u8]) -> ScreenView {
        ScreenView {
            width: 640,
            height: 480,
            cursor: Some(ScreenPoint { x: 0, y: 479 }),
            window: Some(WindowView::new(
                "notes",
                "Mousepad",
                None,
                ScreenPoint { x: 1, y: 2 },
                (300, 200),
            )),
            picture: Picture::new(PictureFormat::Png, data),
        }
    }

    fn sent(screen: &ScreenView, pictures: Pictures) -> Value {
        serde_json::to_value(SentScreen::new(screen, pictures)).unwrap()
    }

    #[test]
    fn a_screen_is_sent_with_its_picture() {
        assert_eq!(
            sent(&screen(b"\x89PNG"), Pictures::Wanted),
            json!({
                "width": 640,
                "height": 480,
                "cursor": {"x": 0, "y": 479},
                "window": {
                    "title": "notes", "class": "Mousepad",
                    "x": 1, "y": 2, "width": 300, "height": 200,
                },
                "picture": {
                    "format": "png", "bytes": 4, "blob": Digest::of(b"\x89PNG"), "base64": "iVBORw==",
                },
            })
        );
    }

    #[test]
    fn what_is_not_wanted_not_there_or_too_large_is_only_named() {
        let small = screen(b"\x89PNG");
        let large = screen(&vec![7; MAX_PICTURE + 1]);
        let recorded: ScreenView =
            serde_json::from_str(&serde_json::to_string(&small).unwrap()).unwrap();
        for (screen, pictures) in [
            (&small, Pictures::Unwanted),
            (&large, Pictures::Wanted),
            (&recorded, Pictures::Wanted),
        ] {
            let sent = sent(screen, pictures);
            assert_eq!(sent["picture"]["bytes"], screen.picture.bytes);
            assert_eq!(sent["picture"].get("base64"), None);
        }
        let largest = screen(&vec![7; MAX_PICTURE]);
        assert!(sent(&largest, Pictures::Wanted)["picture"]["base64"].is_string());
    }
}
