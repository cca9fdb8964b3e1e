//! Pictures of the screen. JSON has no arrays of pixels worth having: a picture is a PNG in base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::bind::callable;
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::geometry::{LONGEST_SIDE, Rect, Size};
use crate::registry::callable::Callable;
use crate::registry::shelf::Registry;
use crate::screen::{CaptureOptions, Frame, PictureFormat};

/// Largest picture that is handed out as text.
const MOST_BYTES: usize = 32 << 20;

pub(super) fn put(registry: &Registry<Callable>) {
    callable!(
        registry, "desktop/screen.capture",
        "A picture of the screen, of a window or of a region [x, y, width, height].",
        (; window: String, region: (i32, i32, u32, u32), cursor: bool, max: (u32, u32)),
        |context| {
            let desktop = context.desktop()?;
            let region = match (window, region) {
                (Some(_), Some(_)) => {
                    return Err(DesktopError::Invalid(
                        "give a window or a region, not both".to_owned(),
                    ));
                }
                (Some(title), None) => Some(visible(&desktop, &title)?),
                (None, region) => {
                    region.map(|(x, y, width, height)| Rect { x, y, width, height })
                }
            };
            let options = CaptureOptions {
                region,
                cursor: cursor.unwrap_or_default(),
                ..CaptureOptions::default()
            };
            let frame = desktop.screen().capture_with(&options)?;
            match max {
                Some((width, height)) => {
                    picture(&frame.scaled_to(bounded(width, height)?).frame)
                }
                None => picture(&frame),
            }
        }
    );
    callable!(
        registry,
        "desktop/screen.size",
        "Width and height of the screen.",
        (),
        |context| {
            let Size { width, height } = context.desktop()?.size();
            Ok((width, height))
        }
    );
}

/// Where a window is that can be seen.
fn visible(desktop: &Desktop, title: &str) -> Result<Rect, DesktopError> {
    let window = desktop.windows().find(title)?;
    if window.hidden {
        return Err(DesktopError::Invalid(format!(
            "the window `{title}` is hidden: make it active first"
        )));
    }
    Ok(window.rect)
}

fn bounded(width: u32, height: u32) -> Result<Size, DesktopError> {
    let fits = |side: u32| (1..=LONGEST_SIDE).contains(&side);
    if fits(width) && fits(height) {
        return Ok(Size::new(width, height));
    }
    Err(DesktopError::Invalid(format!(
        "max is [width, height], each from 1 to {LONGEST_SIDE}"
    )))
}

pub(in crate::registry) fn picture(frame: &Frame) -> Result<Value, DesktopError> {
    let png = frame.encode(PictureFormat::Png)?;
    if png.len() > MOST_BYTES {
        return Err(DesktopError::Invalid(format!(
            "the picture has {} bytes: ask for a smaller one with max or region",
            png.len()
        )));
    }
    let Size { width, height } = frame.size();
    Ok(json!({
        "width": width,
        "height": height,
        "format": "png",
        "base64": BASE64_STANDARD.encode(png),
    }))
}
