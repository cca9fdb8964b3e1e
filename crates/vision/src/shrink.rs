//! Pictures made smaller: every new pixel is the mean of what it covers, so that thin lines and small
//! letters fade instead of vanishing. Knows nothing of what the pictures are for.

use crate::image::Image;

/// Which values one new value is made of, and how much each counts.
struct Cover {
    first: usize,
    shares: Vec<f32>,
}

impl Image {
    /// The same picture in a size that is not larger; a larger one is as large as this is.
    pub fn shrunk(&self, width: u32, height: u32) -> Self {
        let width = width.clamp(1, self.width().max(1));
        let height = height.clamp(1, self.height().max(1));
        if (width, height) == (self.width(), self.height()) {
            return self.clone();
        }
        let stride = self.width() as usize * 3;
        let across = covers(self.width() as usize, width as usize);
        let down = covers(self.height() as usize, height as usize);
        let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
        // Rows are put together first: they lie in one piece, which is the fast way round.
        let mut mixed = vec![0f32; stride];
        for cover in &down {
            mixed.fill(0.0);
            let rows = self.rgb().chunks_exact(stride).skip(cover.first);
            for (row, share) in rows.zip(&cover.shares) {
                for (sum, value) in mixed.iter_mut().zip(row) {
                    *sum += f32::from(*value) * share;
                }
            }
            for cover in &across {
                // Half a step more, since the rest is cut off.
                let mut sum = [0.5f32; 3];
                let pixels = mixed.chunks_exact(3).skip(cover.first);
                for (pixel, share) in pixels.zip(&cover.shares) {
                    for (sum, value) in sum.iter_mut().zip(pixel) {
                        *sum += value * share;
                    }
                }
                rgb.extend(sum.map(|value| value as u8));
            }
        }
        Self::from_rgb(width, height, rgb)
    }
}

fn covers(from: usize, to: usize) -> Vec<Cover> {
    let step = from as f64 / to as f64;
    (0..to)
        .map(|at| {
            let (begin, end) = (at as f64 * step, (at + 1) as f64 * step);
            let first = (begin.floor() as usize).min(from.saturating_sub(1));
            let last = (end.ceil() as usize).clamp(first + 1, from);
            let shares: Vec<f64> = (first..last)
                .map(|i| (end.min(i as f64 + 1.0) - begin.max(i as f64)).max(0.0))
                .collect();
            let sum: f64 = shares.iter().sum();
            Cover {
                first,
                shares: shares
                    .into_iter()
                    .map(|share| (share / sum) as f32)
                    .collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Image {
        let mut rgb = Vec::new();
        for y in 0..height {
            for x in 0..width {
                rgb.extend(pixel(x, y));
            }
        }
        Image::from_rgb(width, height, rgb)
    }

    #[test]
    fn one_colour_stays_one_colour_in_every_size() {
        for value in [0, 1, 127, 200, 255] {
            let image = picture(61, 37, |_, _| [value, 255 - value, 7]);
            for (width, height) in [(1, 1), (60, 36), (31, 5), (61, 1), (2, 37)] {
                let small = image.shrunk(width, height);
                assert_eq!((small.width(), small.height()), (width, height));
                let same = small.rgb().chunks(3).all(|p| p == [value, 255 - value, 7]);
                assert!(same, "{value} {width}x{height}");
            }
        }
    }

    #[test]
    fn a_new_pixel_is_the_mean_of_what_it_covers() {
        let image = picture(4, 2, |x, y| [(x * 10 + y * 100) as u8, 0, 255]);
        let small = image.shrunk(2, 1);
        assert_eq!(small.rgb(), [55, 0, 255, 75, 0, 255]);
    }

    #[test]
    fn colours_keep_their_places() {
        let image = picture(90, 60, |x, y| [(x * 2) as u8, (y * 3) as u8, 9]);
        let small = image.shrunk(30, 20);
        for (x, y) in [(0, 0), (29, 19), (10, 5)] {
            let [red, green, blue] = small.pixel(x, y).unwrap();
            let near = |value: u8, expected: u32| u32::from(value).abs_diff(expected) <= 1;
            assert!(near(red, (x * 3 + 1) * 2) && near(green, (y * 3 + 1) * 3) && blue == 9);
        }
    }

    #[test]
    fn nothing_is_made_larger() {
        let image = picture(5, 4, |x, y| [x as u8, y as u8, 0]);
        assert_eq!(image.shrunk(50, 40), image);
        assert_eq!(image.shrunk(50, 2).width(), 5);
        assert_eq!(image.shrunk(0, 0).width(), 1);
    }
}
