//! Brings pictures within limits. One that is within them is not touched: only its header is read.

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use agon_vision::ImageError;

use super::header;
use super::limits::{Limits, scaled};
use super::mapping::Mapping;
use crate::message::{Image, MediaType, Part};
use crate::request::Request;

/// Times that a picture is made smaller for its bytes.
const TRIES: usize = 8;

/// Pictures of one request.
const MOST_PICTURES: usize = 1_000;
/// Pixels of all pictures of one request that have to be scaled: two hundred large screens.
const MOST_PIXELS: u64 = 400_000_000;

/// A picture as it is sent.
#[derive(Debug, Clone)]
pub struct Fitted {
    pub image: Image,
    pub mapping: Mapping,
}

#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    #[error("a picture of {bytes} bytes is no {media} that can be read")]
    Unreadable { media: &'static str, bytes: usize },
    #[error("the picture can't be scaled: {0}")]
    Broken(#[from] ImageError),
    #[error("the scaled picture can't be written: {0}")]
    Unwritten(String),
    #[error(
        "a picture of {width}x{height} pixels and {bytes} bytes is larger than the provider takes, and \
         {media} is not scaled here: send a PNG"
    )]
    NotScaled {
        media: &'static str,
        width: u32,
        height: u32,
        bytes: usize,
    },
    #[error("the request has {0} pictures: send {MOST_PICTURES} at most")]
    TooMany(usize),
    #[error("the pictures of the request are too large to be scaled: send smaller ones, or fewer")]
    TooManyPixels,
    #[error("a picture of {width}x{height} pixels has too many bytes in every size")]
    TooManyBytes { width: u32, height: u32 },
}

/// The picture within the limits, and the way back. Never made larger, sides keep their ratio.
pub fn fit(image: &Image, limits: Limits) -> Result<Fitted, PictureError> {
    let media = image.media.name();
    let unreadable = PictureError::Unreadable {
        media,
        bytes: image.bytes.len(),
    };
    let (width, height) = header::size(image.media, &image.bytes).ok_or(unreadable)?;
    if within(image, (width, height), limits) {
        return Ok(Fitted {
            image: image.clone(),
            mapping: Mapping::between((width, height), (width, height)),
        });
    }
    if image.media != MediaType::Png {
        return Err(PictureError::NotScaled {
            media,
            width,
            height,
            bytes: image.bytes.len(),
        });
    }
    let original = agon_vision::Image::from_png(&image.bytes)?;
    let (mut to_width, mut to_height) = limits.size(width, height);
    for _ in 0..TRIES {
        let bytes = png(&original.shrunk(to_width, to_height))?;
        let size = bytes.len() as u64;
        if size <= limits.bytes {
            return Ok(Fitted {
                image: Image {
                    media: MediaType::Png,
                    bytes: bytes.into(),
                },
                mapping: Mapping::between((width, height), (to_width, to_height)),
            });
        }
        // Bytes go with the pixels, roughly.
        let share = (limits.bytes as f64 / size as f64).sqrt() * 0.95;
        let long = f64::from(to_width.max(to_height)) * share.min(0.95);
        (to_width, to_height) = scaled(width, height, (long as u32).max(1));
    }
    Err(PictureError::TooManyBytes { width, height })
}

/// All pictures of a request. `None`: it can be sent as it is.
pub fn fit_request(request: &Request, limits: Limits) -> Result<Option<Request>, PictureError> {
    let count = pictures(request);
    if count > MOST_PICTURES {
        return Err(PictureError::TooMany(count));
    }
    let limits = limits.among(count);
    let pixels = request
        .messages
        .iter()
        .map(|message| pixels(&message.parts, limits));
    if pixels.fold(0, u64::saturating_add) > MOST_PIXELS {
        return Err(PictureError::TooManyPixels);
    }
    let mut changed: Option<Request> = None;
    for (nth, message) in request.messages.iter().enumerate() {
        if let Some(parts) = fit_parts(&message.parts, limits)? {
            let request = changed.get_or_insert_with(|| request.clone());
            if let Some(message) = request.messages.get_mut(nth) {
                message.parts = parts;
            }
        }
    }
    Ok(changed)
}

/// How many pictures a request has.
pub fn pictures(request: &Request) -> usize {
    fn count(parts: &[Part]) -> usize {
        let of = |part: &Part| match part {
            Part::Image(_) => 1,
            Part::ToolResult(result) => count(&result.parts),
            _ => 0,
        };
        parts.iter().map(of).sum()
    }
    request
        .messages
        .iter()
        .map(|message| count(&message.parts))
        .sum()
}

/// Of those that have to be scaled.
fn pixels(parts: &[Part], limits: Limits) -> u64 {
    let of = |part: &Part| match part {
        Part::Image(image) => match header::size(image.media, &image.bytes) {
            Some((width, height)) if !within(image, (width, height), limits) => {
                u64::from(width) * u64::from(height)
            }
            _ => 0,
        },
        Part::ToolResult(result) => pixels(&result.parts, limits),
        _ => 0,
    };
    parts.iter().map(of).fold(0, u64::saturating_add)
}

fn within(image: &Image, (width, height): (u32, u32), limits: Limits) -> bool {
    limits.holds(width, height) && image.bytes.len() as u64 <= limits.bytes
}

fn fit_parts(parts: &[Part], limits: Limits) -> Result<Option<Vec<Part>>, PictureError> {
    let mut changed: Option<Vec<Part>> = None;
    for (nth, part) in parts.iter().enumerate() {
        let new = match part {
            Part::Image(image) => {
                let fitted = fit(image, limits)?;
                (!fitted.mapping.is_same()).then_some(Part::Image(fitted.image))
            }
            Part::ToolResult(result) => fit_parts(&result.parts, limits)?.map(|parts| {
                let mut result = result.clone();
                result.parts = parts;
                Part::ToolResult(result)
            }),
            _ => None,
        };
        if let Some(new) = new {
            let parts = changed.get_or_insert_with(|| parts.to_vec());
            if let Some(part) = parts.get_mut(nth) {
                *part = new;
            }
        }
    }
    Ok(changed)
}

fn png(image: &agon_vision::Image) -> Result<Vec<u8>, PictureError> {
    let unwritten = |error: png::EncodingError| PictureError::Unwritten(error.to_string());
    let mut bytes = Vec::with_capacity(image.rgb().len() / 4);
    let mut encoder = png::Encoder::new(&mut bytes, image.width(), image.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(unwritten)?;
    writer.write_image_data(image.rgb()).map_err(unwritten)?;
    writer.finish().map_err(unwritten)?;
    Ok(bytes)
}

/// The text that stands for a picture in bodies, in one piece and without growing.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    STANDARD.encode_string(bytes, &mut text);
    text
}
