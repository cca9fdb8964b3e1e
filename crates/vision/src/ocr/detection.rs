//! Where text is: the detection model, and in which size it gets to see a picture.

use agon_core::Region;
use rten::{Model, Value};

use super::boxes::{self, TextBox};
use super::error::OcrError;
use crate::image::Image;
use crate::scale::{Placed, Planes};

/// The model sees at most about so many points; a larger picture is made smaller.
const MOST_POINTS: f32 = 1088.0 * 672.0;
/// Up to here a picture is shown twice as large, so that tiny text is found.
const SMALL: f32 = 20_000.0;
/// Text that touches an edge is not found well: so many points are put around the picture.
const MARGIN: usize = 16;
/// Mean and deviation of red, green and blue in the pictures that the model has learnt from. Without
/// them it overlooks lines.
const LEARNT: [(f32, f32); 3] = [(0.485, 0.229), (0.456, 0.224), (0.406, 0.225)];
/// The sides that the model sees are multiples of this.
const STEP: usize = 32;

pub(super) struct Detection(Model);

impl std::fmt::Debug for Detection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Detection")
    }
}

impl Detection {
    pub(super) fn load(bytes: Vec<u8>) -> Result<Self, OcrError> {
        let model = Model::load(bytes).map_err(|error| OcrError::Load(error.to_string()))?;
        Ok(Self(model))
    }

    /// The rectangles that hold lines of text, all of them.
    pub(super) fn find(&self, image: &Image) -> Result<Vec<Region>, OcrError> {
        let scale = scale(image.width(), image.height());
        let side = |pixels: u32| ((pixels as f32 * scale).round() as usize).max(1);
        let (width, height) = (side(image.width()), side(image.height()));
        let whole = |side: usize| (side + 2 * MARGIN).next_multiple_of(STEP);
        let mut planes = Planes::filled(whole(width), whole(height), surround(image));
        let place = Placed {
            left: MARGIN,
            top: MARGIN,
            width,
            height,
        };
        planes.draw(image, everything(image), place);
        let size = planes.width * planes.height;
        for (plane, (mean, deviation)) in planes.values.chunks_exact_mut(size).zip(LEARNT) {
            for value in plane {
                *value = (*value - mean) / deviation;
            }
        }
        let (map, across) = self.run(planes)?;
        let region =
            |found: TextBox| found.region(scale, MARGIN as f32, image.width(), image.height());
        let lines = boxes::lines(&map, across).ok_or(OcrError::TooMuch)?;
        Ok(lines.into_iter().filter_map(region).collect())
    }

    /// The map, and the points in each of its rows.
    fn run(&self, planes: Planes) -> Result<(Vec<f32>, usize), OcrError> {
        let failed = |error: &dyn std::fmt::Display| OcrError::Run(error.to_string());
        let shape = [1, 3, planes.height, planes.width];
        let input = Value::from_shape(shape, planes.values).map_err(|error| failed(&error))?;
        let output = self
            .0
            .run_one(input.into(), None)
            .map_err(|error| failed(&error))?;
        let (shape, map): ([usize; 4], Vec<f32>) =
            output.into_shape_vec().map_err(|error| failed(&error))?;
        if shape != [1, 1, planes.height, planes.width] {
            return Err(OcrError::Run(format!("a map of {shape:?}")));
        }
        Ok((map, planes.width))
    }
}

pub(super) fn everything(image: &Image) -> Region {
    Region {
        x: 0,
        y: 0,
        width: image.width(),
        height: image.height(),
    }
}

fn scale(width: u32, height: u32) -> f32 {
    let points = width as f32 * height as f32;
    if points <= SMALL {
        2.0
    } else {
        (MOST_POINTS / points).sqrt().min(1.0)
    }
}

/// What the picture is surrounded with: the median of its edges, channel by channel, so that it goes
/// on as it ends.
fn surround(image: &Image) -> [f32; 3] {
    let (width, height) = (image.width(), image.height());
    let mut counts = [[0u32; 256]; 3];
    let mut edge = 0u32;
    let mut count = |x, y| {
        if let Some(pixel) = image.pixel(x, y) {
            edge += 1;
            for (counts, value) in counts.iter_mut().zip(pixel) {
                counts[usize::from(value)] += 1;
            }
        }
    };
    for x in 0..width {
        count(x, 0);
        count(x, height.saturating_sub(1));
    }
    for y in 0..height {
        count(0, y);
        count(width.saturating_sub(1), y);
    }
    let median = |counts: &[u32; 256]| {
        let mut seen = 0;
        let value = counts.iter().position(|count| {
            seen += count;
            2 * seen >= edge
        });
        value.unwrap_or_default() as f32 / 255.0
    };
    counts.each_ref().map(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pictures_grow_and_large_ones_shrink() {
        assert_eq!(scale(160, 100), 2.0);
        assert_eq!(scale(640, 480), 1.0);
        assert!((scale(2176, 1344) - 0.5).abs() < 1e-3);
    }

    #[test]
    fn a_picture_goes_on_as_it_ends() {
        let mut bgrx = [10, 20, 30, 0].repeat(64);
        bgrx[..12].fill(255);
        let image = Image::from_bgrx(8, 8, &bgrx).unwrap();
        assert_eq!(surround(&image), [30.0, 20.0, 10.0].map(|v| v / 255.0));
    }
}
