//! A screen as a model is shown it: fitted to what its provider takes, with the way back for points.

use std::sync::Arc;

use agon_core::{Digest, PictureFormat, ScreenView};
use agon_llm::picture::{self, Limits, Mapping};
use agon_llm::{Image, MediaType, ModelSpec, Part};

use crate::dialect::Frame;

/// How screens are fitted, and what the model counts in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizing {
    pub limits: Limits,
    pub grid: Grid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// Pixels of the picture that was sent.
    Pixels,
    /// The same, after the model has brought both sides to the nearest multiples of this.
    Multiples(u32),
    /// From 0 to this on both sides, whatever the size is.
    Relative(u32),
}

impl Sizing {
    /// What the model's provider takes, counted in pixels.
    pub fn of(model: &ModelSpec) -> Self {
        Self {
            limits: Limits::of(model.provider, model.wire, &model.model),
            grid: Grid::Pixels,
        }
    }

    fn mapping(&self, fitted: &Mapping) -> Mapping {
        let (width, height) = fitted.sent();
        let counted = match self.grid {
            Grid::Pixels => return *fitted,
            Grid::Multiples(of) => (nearest(width, of), nearest(height, of)),
            Grid::Relative(side) => (side, side),
        };
        Mapping::between(fitted.original(), counted)
    }
}

/// Halves to the even multiple, as Python rounds.
fn nearest(side: u32, of: u32) -> u32 {
    let of = of.max(1);
    let times = (f64::from(side) / f64::from(of)).round_ties_even() as u32;
    times.max(1).saturating_mul(of)
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sight {
    image: Image,
    frame: Frame,
    /// Of the picture as it was captured.
    digest: Digest,
}

impl Sight {
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    pub fn image(&self) -> &Image {
        &self.image
    }

    pub fn part(&self) -> Part {
        Part::Image(self.image.clone())
    }

    /// What `screen` shows. A picture that is the same as `before` is not scaled again.
    pub(super) async fn of(
        screen: &ScreenView,
        sizing: Sizing,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let digest = screen.picture.blob;
        if let Some(before) = before.filter(|before| before.digest == digest) {
            return Ok(Self {
                frame: before.frame.with_cursor(screen.cursor),
                ..before.clone()
            });
        }
        let Some(bytes) = screen.picture.data() else {
            return Err("the picture of the screen was not handed on".to_owned());
        };
        let image = Image {
            media: media(screen.picture.format),
            bytes: Arc::from(bytes),
        };
        // Decoding and scaling take tens of milliseconds of a core.
        let fitting = tokio::task::spawn_blocking(move || picture::fit(&image, sizing.limits));
        let fitted = fitting
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        Ok(Self {
            frame: Frame::new(sizing.mapping(&fitted.mapping), screen.cursor),
            image: fitted.image,
            digest,
        })
    }
}

const fn media(format: PictureFormat) -> MediaType {
    match format {
        PictureFormat::Png => MediaType::Png,
        PictureFormat::Webp => MediaType::Webp,
        PictureFormat::Jpeg => MediaType::Jpeg,
    }
}
