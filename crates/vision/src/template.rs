//! A small picture found in a large one. What is found is the place that differs least, exactly as if
//! every place had been tried, or what was found says that this is not so.
//!
//! Most places need not be tried: squares of pixels are compared by their means and their spread
//! alone, which can't differ more than the pixels themselves do. Places are tried from the most
//! promising on, until no other can be better, or until as many pixels were compared as one search may:
//! a picture that was made to have many promising places has more of them.

use agon_core::Region;

use crate::image::{Image, MOST_SIDE};

/// Where it was found, and how much it is like it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    pub region: Region,
    /// 1 is the same pixel by pixel; what shares nothing but its mean colour has 0.5 at most.
    pub likeness: f64,
    /// No other place is better. Otherwise not every place that might be was tried.
    pub whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a picture of {}x{} is too large to look for {}x{} pixels in it: name a region", picture.0, picture.1, template.0, template.1)]
pub struct TooLarge {
    template: (u32, u32),
    picture: (u32, u32),
}

/// Differences per channel that count as much as the template's own contrast; for those that have
/// none.
const FAINT: f64 = 32.0;
/// So many squared differences stay below 2^32.
const SHORT: usize = 4096;
/// Places that are tried before the others are put in order.
const FIRST: usize = 64;
/// Squares compared at most, over all places; where there are more, some are left out everywhere.
const MOST_SQUARES: usize = 250_000_000;
/// The sides of the squares, the first that fits.
const SIDES: [usize; 4] = [8, 4, 2, 1];
/// Squares in each direction at least, where the template has room for them.
const LEAST_SQUARES: usize = 3;

/// What one search may cost.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Pixels that are searched at once; larger pictures are searched band by band.
    pixels: usize,
    /// Pixels compared, over all places.
    compared: u64,
}

const LIMITS: Limits = Limits {
    pixels: 4096 * 4096,
    compared: 1_000_000_000,
};

/// The best place for `template` in `picture`; none if it has no room there.
pub fn find(picture: &Image, template: &Image) -> Result<Option<Found>, TooLarge> {
    find_within(picture, template, LIMITS)
}

fn find_within(
    picture: &Image,
    template: &Image,
    limits: Limits,
) -> Result<Option<Found>, TooLarge> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let (across, down) = (template.width() as usize, template.height() as usize);
    if across == 0 || down == 0 || across > width || down > height {
        return Ok(None);
    }
    let too_large = TooLarge {
        template: (template.width(), template.height()),
        picture: (picture.width(), picture.height()),
    };
    let band = (limits.pixels / width + 1).saturating_sub(down);
    if band == 0 || picture.width().max(picture.height()) > MOST_SIDE {
        return Err(too_large);
    }
    let rows = height - down + 1;
    let mut search = Search {
        picture,
        template,
        most: limits.compared,
        best: None,
        compared: 0,
        whole: true,
    };
    let bands = || (0..rows).step_by(band);
    if rows > band {
        // The best of all bands come first, so that no band has to be searched for what another has.
        for top in bands() {
            search.band(top, band.min(rows - top), FIRST);
        }
    }
    for top in bands() {
        search.band(top, band.min(rows - top), usize::MAX);
    }
    Ok(search.found())
}

/// The best place so far.
struct Search<'a> {
    picture: &'a Image,
    template: &'a Image,
    most: u64,
    /// The difference, and where.
    best: Option<(u64, usize, usize)>,
    compared: u64,
    whole: bool,
}

impl Search<'_> {
    /// Tries the most promising places, `most` of them, of `rows` rows from `top` on.
    fn band(&mut self, top: usize, rows: usize, most: usize) {
        let bounds = bounds(self.picture, self.template, top, rows);
        let places = bounds.len() / rows;
        let mut order: Vec<u32> = (0..bounds.len() as u32).collect();
        // In steps, because the order of the rest is seldom needed.
        let mut rest = order.as_mut_slice();
        let mut step = FIRST;
        let mut tries = 0;
        while !rest.is_empty() && tries < most {
            let now = step.min(rest.len());
            let by_bound = |a: &u32, b: &u32| bounds[*a as usize].total_cmp(&bounds[*b as usize]);
            if now < rest.len() {
                rest.select_nth_unstable_by(now - 1, by_bound);
            }
            let (tried, later) = rest.split_at_mut(now);
            tried.sort_unstable_by(by_bound);
            for &at in &*tried {
                let (at, least) = (at as usize, f64::from(bounds[at as usize]));
                let limit = self.best.map_or(u64::MAX, |(difference, ..)| difference);
                // A little less, because bounds are rounded.
                if limit == 0 || least * 0.999 - 1.0 >= limit as f64 {
                    return;
                }
                if self.compared >= self.most {
                    self.whole = false;
                    return;
                }
                self.compare(at % places, top + at / places, limit);
            }
            tries += now;
            rest = later;
            step *= 4;
        }
    }

    fn compare(&mut self, x: usize, y: usize, limit: u64) {
        let (difference, rows) = difference(self.picture, self.template, x, y, limit);
        self.compared += rows as u64 * u64::from(self.template.width());
        if difference < limit {
            self.best = Some((difference, x, y));
        }
    }

    fn found(&self) -> Option<Found> {
        let (difference, x, y) = self.best?;
        let values = self.template.rgb().len() as f64;
        let own: f64 = (0..3).map(|channel| spread(self.template, channel)).sum();
        let scale = 2.0 * own + values * FAINT * FAINT;
        Some(Found {
            region: Region {
                x: x as u32,
                y: y as u32,
                width: self.template.width(),
                height: self.template.height(),
            },
            likeness: (1.0 - difference as f64 / scale).max(0.0),
            whole: self.whole,
        })
    }
}

/// The sum of squared differences from the mean.
fn spread(image: &Image, channel: usize) -> f64 {
    let values = image.rgb().iter().skip(channel).step_by(3).copied();
    let count = (image.rgb().len() / 3) as f64;
    let sum: f64 = values.clone().map(f64::from).sum();
    let squares: f64 = values.map(|value| f64::from(value).powi(2)).sum();
    (squares - sum * sum / count).max(0.0)
}

/// The sum of squared differences at a place, and the rows that were compared until it was more than
/// `limit`.
fn difference(picture: &Image, template: &Image, x: usize, y: usize, limit: u64) -> (u64, usize) {
    let stride = picture.width() as usize * 3;
    let length = template.width() as usize * 3;
    let mut sum = 0u64;
    let mut rows = 0;
    for (row, wanted) in template.rgb().chunks_exact(length).enumerate() {
        let start = (y + row) * stride + x * 3;
        let there = &picture.rgb()[start..start + length];
        for (there, wanted) in there.chunks(SHORT).zip(wanted.chunks(SHORT)) {
            let part: u32 = there
                .iter()
                .zip(wanted)
                .map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2))
                .sum();
            sum += u64::from(part);
        }
        rows += 1;
        if sum >= limit {
            break;
        }
    }
    (sum, rows)
}

/// For each place of these rows, what the differences there amount to at least.
fn bounds(picture: &Image, template: &Image, top: usize, rows: usize) -> Vec<f32> {
    let (across, down) = (template.width() as usize, template.height() as usize);
    let side = SIDES
        .into_iter()
        .find(|side| side * LEAST_SQUARES <= across.min(down))
        .unwrap_or(1);
    let width = picture.width() as usize;
    let seen = &picture.rgb()[top * width * 3..(top + rows + down - 1) * width * 3];
    let squares = Squares::of(template.rgb(), across, side);
    let there = Squares::of(seen, width, side);
    let places = width - across + 1;
    let mut bounds = vec![0f32; places * rows];
    let all = (across / side) * (down / side);
    let everywhere = places * (picture.height() as usize - down + 1);
    let most = (MOST_SQUARES / everywhere).max(LEAST_SQUARES * LEAST_SQUARES);
    let step = side * (all.div_ceil(most) as f32).sqrt().ceil() as usize;
    // Differences of the sum of three channels are at most three times those of the channels.
    let weight = (side * side) as f32 / 3.0;
    for (y, bounds) in bounds.chunks_exact_mut(places).enumerate() {
        for by in (0..=down - side).step_by(step) {
            for bx in (0..=across - side).step_by(step) {
                let (mean, deviation) = squares.at(bx, by);
                let start = (y + by) * there.width + bx;
                let means = &there.means[start..start + places];
                let deviations = &there.deviations[start..start + places];
                for ((bound, m), d) in bounds.iter_mut().zip(means).zip(deviations) {
                    let (m, d) = (m - mean, d - deviation);
                    *bound += (m * m + d * d) * weight;
                }
            }
        }
    }
    bounds
}

/// Mean and standard deviation of each square of pixels, by its upper left corner.
struct Squares {
    width: usize,
    means: Vec<f32>,
    deviations: Vec<f32>,
}

impl Squares {
    /// Of rows of pixels.
    fn of(rgb: &[u8], width: usize, side: usize) -> Self {
        let height = rgb.len() / (width * 3);
        let greys: Vec<u32> = rgb
            .chunks_exact(3)
            .map(|pixel| pixel.iter().copied().map(u32::from).sum())
            .collect();
        let (columns, rows) = (width - side + 1, height - side + 1);
        let mut squares = Self {
            width: columns,
            means: Vec::with_capacity(columns * rows),
            deviations: Vec::with_capacity(columns * rows),
        };
        let count = (side * side) as f32;
        // Sums over the columns of a square; at most 64 values of 765 squared.
        let mut sums = vec![(0u32, 0u32); width];
        for y in 0..height {
            for (x, (sum, square)) in sums.iter_mut().enumerate() {
                let new = greys[y * width + x];
                *sum += new;
                *square += new * new;
                if y >= side {
                    let old = greys[(y - side) * width + x];
                    *sum -= old;
                    *square -= old * old;
                }
            }
            if y + 1 < side {
                continue;
            }
            let (mut sum, mut square) = (0, 0);
            for x in 0..width {
                sum += sums[x].0;
                square += sums[x].1;
                if x >= side {
                    sum -= sums[x - side].0;
                    square -= sums[x - side].1;
                }
                if x + 1 >= side {
                    let mean = sum as f32 / count;
                    // Exact: the squares of the sums fit.
                    let spread = u64::from(square) * (side * side) as u64 - u64::from(sum).pow(2);
                    squares.means.push(mean);
                    squares.deviations.push((spread as f32).sqrt() / count);
                }
            }
        }
        squares
    }

    fn at(&self, x: usize, y: usize) -> (f32, f32) {
        let at = y * self.width + x;
        (self.means[at], self.deviations[at])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn image(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Image {
        let mut bgrx = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let [red, green, blue] = pixel(x, y);
                bgrx.extend([blue, green, red, 0]);
            }
        }
        Image::from_bgrx(width, height, &bgrx).unwrap()
    }

    /// Looks random, is always the same.
    fn noise(x: u32, y: u32) -> [u8; 3] {
        let mixed =
            (x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
        let [a, b, c, _] = (mixed ^ (mixed >> 15)).to_be_bytes();
        [a, b, c]
    }

    /// Where there is room.
    fn found(picture: &Image, template: &Image) -> Found {
        find(picture, template).unwrap().unwrap()
    }

    fn part(of: &Image, x: u32, y: u32, width: u32, height: u32) -> Image {
        of.crop(Region {
            x,
            y,
            width,
            height,
        })
        .unwrap()
    }

    fn every_place(picture: &Image, template: &Image) -> u64 {
        let places = (picture.width() - template.width() + 1) as usize;
        let rows = (picture.height() - template.height() + 1) as usize;
        (0..places * rows)
            .map(|at| difference(picture, template, at % places, at / places, u64::MAX).0)
            .min()
            .unwrap()
    }

    #[test]
    fn what_was_cut_out_is_found_where_it_was() {
        let screen = image(320, 200, noise);
        for (x, y, width, height) in [(0, 0, 40, 20), (133, 77, 100, 50), (319, 199, 1, 1)] {
            let found = found(&screen, &part(&screen, x, y, width, height));
            assert_eq!(found.likeness, 1.0);
            if width > 1 {
                assert_eq!((found.region.x, found.region.y), (x, y));
            }
        }
    }

    #[test]
    fn on_an_even_screen_nothing_is_like_a_pattern() {
        let flat = image(300, 200, |_, _| [128; 3]);
        let template = image(60, 40, |x, y| {
            if (x / 5 + y / 5) % 2 == 0 {
                [0; 3]
            } else {
                [255; 3]
            }
        });
        let found = found(&flat, &template);
        assert!(found.likeness < 0.6, "{found:?}");
    }

    #[test]
    fn another_colour_is_less_like() {
        let red = image(50, 50, |_, _| [200, 0, 0]);
        let nearly = image(10, 10, |_, _| [195, 5, 0]);
        let green = image(10, 10, |_, _| [0, 200, 0]);
        assert!(found(&red, &nearly).likeness > 0.95);
        assert!(found(&red, &green).likeness < 0.1);
    }

    #[test]
    fn what_has_no_room_is_not_found() {
        let small = image(10, 10, noise);
        let large = image(11, 5, noise);
        assert_eq!(find(&small, &large), Ok(None));
    }

    #[test]
    fn large_screens_are_searched_and_too_large_ones_refused() {
        let patch = image(20, 20, noise);
        let mut bgrx = vec![90; 4200 * 4100 * 4];
        for (row, wanted) in patch.rgb().chunks_exact(20 * 3).enumerate() {
            let start = ((4070 + row) * 4200 + 3000) * 4;
            for (there, pixel) in bgrx[start..]
                .chunks_exact_mut(4)
                .zip(wanted.chunks_exact(3))
            {
                there[..3].copy_from_slice(&[pixel[2], pixel[1], pixel[0]]);
            }
        }
        let large = Image::from_bgrx(4200, 4100, &bgrx).unwrap();
        let found = found(&large, &patch);
        assert_eq!((found.likeness, found.whole), (1.0, true));
        assert_eq!((found.region.x, found.region.y), (3000, 4070));
        let wide = image(MOST_SIDE + 1, 20, noise);
        let refused = find(&wide, &patch).unwrap_err().to_string();
        assert!(refused.contains("8193x20"), "{refused}");
        assert!(refused.contains("name a region"), "{refused}");
        // Not even one row of places fits.
        let limits = Limits {
            pixels: 100 * 19,
            ..LIMITS
        };
        let screen = image(100, 100, noise);
        assert!(find_within(&screen, &patch, limits).is_err());
    }

    #[test]
    fn a_search_that_was_cut_short_says_so() {
        // Checks in two phases: the same means everywhere, the same pixels nowhere.
        let screen = image(200, 200, |x, y| [255 * ((x + y) % 2) as u8; 3]);
        let template = image(64, 64, |x, y| [255 * ((x / 2 + y / 2) % 2) as u8; 3]);
        let limits = |compared| Limits { compared, ..LIMITS };
        let cut = find_within(&screen, &template, limits(10_000)).unwrap();
        assert!(!cut.unwrap().whole);
        let all = find_within(&screen, &template, limits(u64::MAX)).unwrap();
        assert!(all.unwrap().whole);
        // What is there exactly ends the search by itself.
        let itself = part(&screen, 10, 10, 64, 64);
        let found = find_within(&screen, &itself, limits(10_000)).unwrap();
        assert_eq!(
            found.map(|found| (found.likeness, found.whole)),
            Some((1.0, true))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_place_is_better_than_the_found_one(
            pixels in prop::collection::vec(prop::sample::select(vec![0u8, 3, 120, 255]), 40 * 30),
            wanted in prop::collection::vec(prop::sample::select(vec![0u8, 3, 120, 255]), 1200),
            width in 1u32..30, height in 1u32..30, band in 0usize..4,
        ) {
            let picture = image(40, 30, |x, y| [pixels[(y * 40 + x) as usize]; 3]);
            let template = image(width, height, |x, y| [wanted[(y * width + x) as usize], 9, 9]);
            // The fewest pixels that have room for it, and some more.
            let limits = Limits { pixels: 40 * (height as usize + band), ..LIMITS };
            let found = find_within(&picture, &template, limits).unwrap().unwrap();
            prop_assert!(found.whole);
            let region = found.region;
            let there = difference(
                &picture, &template, region.x as usize, region.y as usize, u64::MAX,
            );
            prop_assert_eq!(there.0, every_place(&picture, &template));
        }
    }
}
