//! Frames made smaller: each new pixel is the average of the area that it stands for.

use super::frame::{Frame, PIXEL, Pixels};
use super::mapping::Mapping;
use crate::geometry::{Rect, Size};

/// Shares of one source row or column in a target sum up to this, so that a byte times them fits
/// into 16 bits.
const WHOLE: u32 = 256;

/// A smaller frame, and how its points lie on the screen.
#[derive(Debug)]
pub struct Scaled {
    pub frame: Frame,
    pub mapping: Mapping,
}

pub(super) fn scaled_to(frame: &Frame, most: Size) -> Scaled {
    let size = fitting(frame.size(), most);
    let screen = Rect {
        x: frame.origin().x,
        y: frame.origin().y,
        width: frame.size().width,
        height: frame.size().height,
    };
    let pixels = if size == frame.size() {
        frame.pixels().to_vec()
    } else {
        averaged(frame.pixels(), frame.size(), size)
    };
    let rect = Rect {
        width: size.width,
        height: size.height,
        ..screen
    };
    Scaled {
        frame: Frame::new(rect, Pixels::Own(pixels), frame.at(), frame.cursor()),
        mapping: Mapping::new(screen, size),
    }
}

/// The largest size of the same proportions within `most`; no side is ever 0.
fn fitting(size: Size, most: Size) -> Size {
    if size.width <= most.width && size.height <= most.height {
        return size;
    }
    let (width, height) = (u64::from(size.width), u64::from(size.height));
    let (most_width, most_height) = (u64::from(most.width), u64::from(most.height));
    let rounded = |a: u64, b: u64, by: u64| ((a * b + by / 2) / by.max(1)).max(1) as u32;
    // The side that must shrink more decides.
    if most_width * height <= most_height * width {
        let other = rounded(height, most_width, width);
        Size::new(most.width.max(1), other.min(most.height.max(1)))
    } else {
        let other = rounded(width, most_height, height);
        Size::new(other.min(most.width.max(1)), most.height.max(1))
    }
}

/// Which cells of the source a cell of the target covers, and the share of each.
#[derive(Debug)]
struct Cover {
    first: usize,
    shares: Vec<u16>,
}

/// `to` is at most `from`.
fn covers(from: u32, to: u32) -> Vec<Cover> {
    let (from, to) = (u64::from(from), u64::from(to));
    let cover = |cell: u64| {
        // In units of which a source cell has `to` and a target cell `from`.
        let (start, end) = (cell * from, (cell + 1) * from);
        let (first, last) = (start / to, (end - 1) / to);
        let up_to = |edge: u64| {
            let covered = edge.clamp(start, end) - start;
            ((covered * u64::from(WHOLE) + from / 2) / from) as u16
        };
        // Differences of rounded sums: their own sum is exact.
        let shares = (first..=last).map(|at| up_to((at + 1) * to) - up_to(at * to));
        Cover {
            first: first as usize,
            shares: shares.collect(),
        }
    };
    (0..to).map(cover).collect()
}

fn averaged(pixels: &[u8], from: Size, to: Size) -> Vec<u8> {
    let row_len = from.width as usize * PIXEL;
    let columns = covers(from.width, to.width);
    let mut target = Vec::with_capacity(to.pixels() * PIXEL);
    let mut sums = vec![0_u16; row_len];
    for cover in covers(from.height, to.height) {
        sums.fill(0);
        let rows = pixels.chunks_exact(row_len).skip(cover.first);
        for (row, share) in rows.zip(&cover.shares) {
            for (sum, byte) in sums.iter_mut().zip(row) {
                *sum += u16::from(*byte) * share;
            }
        }
        let (sums, _) = sums.as_chunks::<PIXEL>();
        for column in &columns {
            let mut mixed = [WHOLE * WHOLE / 2; PIXEL];
            let covered = &sums[column.first..column.first + column.shares.len()];
            for (sum, share) in covered.iter().zip(&column.shares) {
                for (mixed, sum) in mixed.iter_mut().zip(sum) {
                    *mixed += u32::from(*sum) * u32::from(*share);
                }
            }
            target.extend(mixed.map(|mixed| (mixed / (WHOLE * WHOLE)) as u8));
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::frame::tests::frame;
    use super::*;

    #[test]
    fn proportions_stay() {
        let fit = |size: &str, most: &str| {
            fitting(size.parse().unwrap(), most.parse().unwrap()).to_string()
        };
        assert_eq!(fit("1920x1080", "1280x800"), "1280x720");
        assert_eq!(fit("1080x1920", "1280x800"), "450x800");
        assert_eq!(fit("640x480", "1280x800"), "640x480");
        assert_eq!(fit("8192x1", "100x100"), "100x1");
        assert_eq!(fit("1280x800", "1280x799"), "1278x799");
        assert_eq!(fitting(Size::new(10, 10), Size::new(0, 0)), Size::new(1, 1));
    }

    #[test]
    fn areas_are_averaged() {
        let small = averaged(
            &[
                0, 10, 100, 0, 100, 20, 100, 0, 0, 30, 100, 0, 100, 40, 100, 0,
            ],
            Size::new(2, 2),
            Size::new(1, 1),
        );
        assert_eq!(&small[..3], &[50, 25, 100]);
        // Two pixels share the one in the middle.
        let small = averaged(
            &[0, 0, 0, 0, 90, 90, 90, 0, 180, 180, 180, 0],
            Size::new(3, 1),
            Size::new(2, 1),
        );
        assert_eq!((small[0], small[4]), (30, 150));
    }

    #[test]
    fn a_frame_that_fits_is_left_as_it_is() {
        let large = frame(2, 2, (0..16).collect());
        let same = large.scaled_to(Size::new(2, 2));
        assert_eq!(same.frame, large);
    }

    proptest! {
        #[test]
        fn one_colour_stays_that_colour(
            from in (1_u32..300, 1_u32..60),
            most in (1_u32..300, 1_u32..60),
            colour in any::<[u8; 4]>(),
        ) {
            let size = Size::new(from.0, from.1);
            let scaled = frame(from.0, from.1, colour.repeat(size.pixels()))
                .scaled_to(Size::new(most.0, most.1))
                .frame;
            prop_assert!(scaled.size().width <= most.0.min(from.0));
            prop_assert!(scaled.size().height <= most.1.min(from.1));
            prop_assert!(scaled.pixels().chunks(4).all(|pixel| pixel == colour));
        }
    }
}
