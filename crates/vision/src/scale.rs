//! Parts of pictures in another size, as the planes of numbers that the models take. Knows nothing of
//! what the models do with them.

use agon_core::Region;

use crate::image::Image;

/// Planes of red, green and blue, from 0 to 1, each row after row.
#[derive(Debug, Clone)]
pub(crate) struct Planes {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) values: Vec<f32>,
}

/// Where a scaled part stands among the planes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Which values make one scaled value, and how much each counts.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

impl Planes {
    pub(crate) fn filled(width: usize, height: usize, colour: [f32; 3]) -> Self {
        let mut values = Vec::with_capacity(width * height * 3);
        for value in colour {
            values.extend(std::iter::repeat_n(value, width * height));
        }
        Self {
            width,
            height,
            values,
        }
    }

    /// Draws a part of a picture, scaled. What reaches over an edge is left out.
    pub(crate) fn draw(&mut self, picture: &Image, part: Region, place: Placed) {
        let Some(part) = picture.crop(part) else {
            return;
        };
        let across = taps(part.width() as usize, place.width);
        let down = taps(part.height() as usize, place.height);
        let stride = part.width() as usize * 3;
        // The rows are narrowed first, then put together.
        let mut narrowed = vec![0f32; across.len() * 3 * part.height() as usize];
        for (row, out) in part
            .rgb()
            .chunks_exact(stride)
            .zip(narrowed.chunks_exact_mut(across.len() * 3))
        {
            for (taps, out) in across.iter().zip(out.chunks_exact_mut(3)) {
                let pixels = row[taps.first * 3..].chunks_exact(3);
                for (pixel, weight) in pixels.zip(&taps.weights) {
                    for (out, value) in out.iter_mut().zip(pixel) {
                        *out += f32::from(*value) * weight;
                    }
                }
            }
        }
        let size = self.width * self.height;
        let width = across.len().min(self.width.saturating_sub(place.left));
        let mut mixed = vec![0f32; across.len() * 3];
        for (y, taps) in down.iter().enumerate() {
            if place.top + y >= self.height {
                break;
            }
            mixed.fill(0.0);
            let rows = narrowed[taps.first * mixed.len()..].chunks_exact(mixed.len());
            for (row, weight) in rows.zip(&taps.weights) {
                for (sum, value) in mixed.iter_mut().zip(row) {
                    *sum += value * weight;
                }
            }
            let start = (place.top + y) * self.width + place.left;
            for (channel, plane) in self.values.chunks_exact_mut(size).enumerate() {
                let out = &mut plane[start..start + width];
                for (out, pixel) in out.iter_mut().zip(mixed.chunks_exact(3)) {
                    *out = pixel[channel] / 255.0;
                }
            }
        }
    }
}

/// Straight lines between the values when it grows, the mean of those that fall together when it
/// shrinks.
fn taps(from: usize, to: usize) -> Vec<Taps> {
    let step = from as f32 / to as f32;
    let reach = step.max(1.0);
    (0..to)
        .map(|at| {
            let centre = (at as f32 + 0.5) * step;
            let first = (centre - reach).floor().max(0.0) as usize;
            let last = ((centre + reach).ceil() as usize).min(from);
            let first = first.min(last.saturating_sub(1));
            let mut weights: Vec<f32> = (first..last)
                .map(|i| (1.0 - (i as f32 + 0.5 - centre).abs() / reach).max(0.0))
                .collect();
            let sum: f32 = weights.iter().sum();
            for weight in &mut weights {
                *weight /= sum.max(f32::EPSILON);
            }
            Taps { first, weights }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: u32, height: u32, value: impl Fn(u32, u32) -> u8) -> Image {
        let mut bgrx = Vec::new();
        for y in 0..height {
            for x in 0..width {
                bgrx.extend([value(x, y); 4]);
            }
        }
        Image::from_bgrx(width, height, &bgrx).unwrap()
    }

    fn whole(image: &Image) -> Region {
        Region {
            x: 0,
            y: 0,
            width: image.width(),
            height: image.height(),
        }
    }

    #[test]
    fn the_same_size_is_the_same_picture() {
        let image = grey(7, 5, |x, y| (x * 30 + y * 7) as u8);
        let mut planes = Planes::filled(7, 5, [0.0; 3]);
        let place = Placed {
            left: 0,
            top: 0,
            width: 7,
            height: 5,
        };
        planes.draw(&image, whole(&image), place);
        for (value, pixel) in planes.values[..35].iter().zip(image.rgb().chunks(3)) {
            assert!((value - f32::from(pixel[0]) / 255.0).abs() < 1e-5);
        }
    }

    #[test]
    fn one_colour_stays_one_colour_in_every_size() {
        let image = grey(13, 9, |_, _| 200);
        for (width, height) in [(1, 1), (5, 3), (13, 40), (60, 2), (200, 200)] {
            let mut planes = Planes::filled(width, height, [0.0; 3]);
            let place = Placed {
                left: 0,
                top: 0,
                width,
                height,
            };
            planes.draw(&image, whole(&image), place);
            assert!(
                planes
                    .values
                    .iter()
                    .all(|v| (v - 200.0 / 255.0).abs() < 1e-4),
                "{width}x{height}"
            );
        }
    }

    #[test]
    fn what_reaches_over_an_edge_is_left_out() {
        let image = grey(4, 4, |_, _| 255);
        let mut planes = Planes::filled(6, 6, [0.0; 3]);
        let place = Placed {
            left: 4,
            top: 4,
            width: 8,
            height: 8,
        };
        planes.draw(&image, whole(&image), place);
        assert_eq!(planes.values.iter().filter(|v| **v > 0.5).count(), 4 * 3);
    }
}
