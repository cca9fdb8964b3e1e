//! A picture of the screen at one moment. Knows nothing of where it came from.
//!
//! A pixel is four bytes: blue, green, red and one without a meaning. Programs leave anything in the
//! fourth, and clearing it would take as long as the capture itself; so equality, hash and encoders
//! do not look at it.

use std::time::Duration;

use xxhash_rust::xxh3::Xxh3;

use super::encode::{self, PictureFormat};
use super::scale::{self, Scaled};
use super::segments::Lease;
use crate::error::DesktopError;
use crate::geometry::{Point, Rect, Size};

pub(super) const PIXEL: usize = 4;

/// All but the byte without a meaning.
pub(super) const COLOURS: u32 = 0x00ff_ffff;

/// So much is hashed or compared at once: it stays in the nearest cache.
const BLOCK: usize = 8 * 1024;

#[derive(Debug)]
pub struct Frame {
    rect: Rect,
    pixels: Pixels,
    at: Duration,
    cursor: Option<Point>,
}

#[derive(Debug)]
pub(super) enum Pixels {
    /// As the server wrote them. There may be room behind them.
    Shared(Lease),
    Own(Vec<u8>),
}

impl Pixels {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(lease) => lease.bytes(),
            Self::Own(bytes) => bytes,
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Shared(lease) => lease.bytes_mut(),
            Self::Own(bytes) => bytes,
        }
    }
}

impl Frame {
    /// `pixels` holds at least those of `rect`.
    pub(super) fn new(rect: Rect, pixels: Pixels, at: Duration, cursor: Option<Point>) -> Self {
        debug_assert!(pixels.bytes().len() >= rect.size().pixels() * PIXEL);
        Self {
            rect,
            pixels,
            at,
            cursor,
        }
    }

    pub const fn size(&self) -> Size {
        self.rect.size()
    }

    /// Where its upper left corner is on the screen; `(0, 0)` unless a part was captured.
    pub const fn origin(&self) -> Point {
        Point {
            x: self.rect.x,
            y: self.rect.y,
        }
    }

    /// Rows from top to bottom without gaps: blue, green, red, and a byte without a meaning.
    pub fn pixels(&self) -> &[u8] {
        let len = self.size().pixels() * PIXEL;
        &self.pixels.bytes()[..len]
    }

    /// Time on the system's monotonic clock (`CLOCK_MONOTONIC`), which X servers use as well: what was
    /// drawn before is in the frame.
    pub const fn at(&self) -> Duration {
        self.at
    }

    /// Where the pointer was on the screen, drawn or not; `None` when it was on another one.
    pub const fn cursor(&self) -> Option<Point> {
        self.cursor
    }

    /// Colour as `0xRRGGBB`; `None` outside of the frame.
    pub fn colour(&self, x: u32, y: u32) -> Option<u32> {
        let size = self.size();
        if x >= size.width || y >= size.height {
            return None;
        }
        let index = y as usize * size.width as usize + x as usize;
        let (pixels, _) = self.pixels().as_chunks::<PIXEL>();
        pixels
            .get(index)
            .map(|bytes| u32::from_le_bytes(*bytes) & COLOURS)
    }

    /// Whether all that it shows of a part of the screen has the same colour; not so for a part of
    /// which it shows nothing.
    pub fn is_plain(&self, part: Rect) -> bool {
        let Some(part) = self.rect.intersect(part) else {
            return false;
        };
        let (pixels, _) = self.pixels().as_chunks::<PIXEL>();
        let left = part.x.abs_diff(self.rect.x) as usize;
        let top = part.y.abs_diff(self.rect.y) as usize;
        let rows = pixels.chunks(self.rect.width as usize).skip(top);
        let rows = rows.take(part.height as usize);
        let shown = rows.flat_map(|row| row.iter().skip(left).take(part.width as usize));
        let mut colours = shown.map(|bytes| u32::from_le_bytes(*bytes) & COLOURS);
        let first = colours.next();
        colours.all(|colour| Some(colour) == first)
    }

    /// Equal for frames of the same size and colours, wherever and whenever they were taken.
    pub fn hash(&self) -> u128 {
        let size = self.size();
        let mut hash = Xxh3::new();
        hash.update(&size.width.to_le_bytes());
        hash.update(&size.height.to_le_bytes());
        let mut block = [0; BLOCK];
        for raw in self.pixels().chunks(BLOCK) {
            let colours = &mut block[..raw.len()];
            for (to, from) in colours
                .as_chunks_mut::<PIXEL>()
                .0
                .iter_mut()
                .zip(raw.as_chunks().0)
            {
                *to = (u32::from_le_bytes(*from) & COLOURS).to_le_bytes();
            }
            hash.update(colours);
        }
        hash.digest128()
    }

    pub fn encode(&self, format: PictureFormat) -> Result<Vec<u8>, DesktopError> {
        encode::encode(self, format)
    }

    /// As large as fits into `most`, in the same proportions, and never larger than it is.
    pub fn scaled_to(&self, most: Size) -> Scaled {
        scale::scaled_to(self, most)
    }
}

/// The same size and colours: not the same place or time.
impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        let differs = |a: &[u8], b: &[u8]| {
            let (a, b) = (a.as_chunks::<PIXEL>().0, b.as_chunks::<PIXEL>().0);
            let differing = a.iter().zip(b).fold(0, |differing, (a, b)| {
                differing | (u32::from_le_bytes(*a) ^ u32::from_le_bytes(*b))
            });
            differing & COLOURS != 0
        };
        let blocks = |frame: &Self| frame.pixels().len().div_ceil(BLOCK);
        self.size() == other.size()
            && blocks(self) == blocks(other)
            && !self
                .pixels()
                .chunks(BLOCK)
                .zip(other.pixels().chunks(BLOCK))
                .any(|(a, b)| differs(a, b))
    }
}

impl Eq for Frame {}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn frame(width: u32, height: u32, pixels: Vec<u8>) -> Frame {
        let rect = Size::new(width, height).rect();
        Frame::new(rect, Pixels::Own(pixels), Duration::ZERO, None)
    }

    #[test]
    fn the_fourth_byte_has_no_meaning() {
        let (a, b) = (
            frame(2, 1, vec![1, 2, 3, 0, 4, 5, 6, 0]),
            frame(2, 1, vec![1, 2, 3, 255, 4, 5, 6, 7]),
        );
        assert_eq!(a, b);
        assert_eq!(a.hash(), b.hash());
        assert_eq!(a.colour(1, 0), Some(0x06_05_04));
        assert_eq!(a.colour(2, 0), None);
    }

    #[test]
    fn a_part_of_one_colour_is_plain() {
        // 3 x 2 of which one pixel, in the middle below, is another.
        let mut pixels = vec![7; 4 * 6];
        pixels[4 * 4] = 1;
        pixels[3] = 200;
        let rect = Rect {
            x: 10,
            y: 20,
            width: 3,
            height: 2,
        };
        let frame = Frame::new(rect, Pixels::Own(pixels), Duration::ZERO, None);
        let plain = |x, y, width, height| {
            frame.is_plain(Rect {
                x,
                y,
                width,
                height,
            })
        };
        assert!(plain(10, 20, 3, 1) && plain(10, 20, 1, 2) && plain(12, 20, 1, 2));
        assert!(plain(11, 21, 1, 1) && plain(-5, -5, 100, 26));
        assert!(!plain(10, 20, 3, 2) && !plain(10, 21, 2, 1) && !plain(-5, -5, 100, 100));
        assert!(
            !plain(13, 20, 5, 5) && !plain(0, 0, 10, 20),
            "nothing of it"
        );
    }

    #[test]
    fn every_other_byte_has_one() {
        let plain = vec![9; 4 * 60 * 50];
        let first = frame(60, 50, plain.clone());
        for at in [0, 1, 2, 4 * 2999, 4 * 2999 + 2] {
            let mut changed = plain.clone();
            changed[at] = 8;
            let changed = frame(60, 50, changed);
            assert_ne!(first, changed, "byte {at}");
            assert_ne!(first.hash(), changed.hash(), "byte {at}");
        }
        let turned = frame(50, 60, plain);
        assert_ne!(first, turned);
        assert_ne!(first.hash(), turned.hash());
    }
}
