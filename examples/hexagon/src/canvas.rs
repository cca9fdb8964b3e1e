//! A picture in memory that is used again for every frame, and the few shapes that are drawn into it.
//! Shapes outside of the picture are cut off. Knows nothing of what they mean.

/// `0xRRGGBB`.
pub type Colour = u32;

/// A point in pixels; the middle of the upper left pixel is at `(0.5, 0.5)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Bits behind the point of whole numbers that stand for places.
const FRACTION: u32 = 16;
const ONE: i64 = 1 << FRACTION;
/// Places are kept this near, so that no sum of them overflows.
const FARTHEST: f64 = 100_000.0;

#[derive(Debug)]
pub struct Canvas {
    width: usize,
    height: usize,
    /// As X servers take them: blue, green, red and a byte without a meaning.
    pixels: Vec<[u8; 4]>,
    /// Where a shape begins and ends in each line; empty lines have a start behind their end.
    spans: Vec<(i64, i64)>,
}

/// How much of each pixel a shape covers, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    pub width: usize,
    pub height: usize,
    pub cover: Vec<u8>,
}

impl Canvas {
    pub fn new(width: u16, height: u16) -> Self {
        let (width, height) = (usize::from(width), usize::from(height));
        Self {
            width,
            height,
            pixels: vec![[0; 4]; width * height],
            spans: vec![(0, 0); height],
        }
    }

    pub const fn width(&self) -> usize {
        self.width
    }

    pub const fn height(&self) -> usize {
        self.height
    }

    /// Rows from top to bottom without gaps: blue, green, red and a byte without a meaning.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Rows from top to bottom without gaps.
    pub fn colours(&self) -> impl Iterator<Item = Colour> {
        self.pixels
            .iter()
            .map(|pixel| Colour::from_le_bytes(*pixel))
    }

    pub fn fill(&mut self, colour: Colour) {
        self.pixels.fill(colour.to_le_bytes());
    }

    pub fn fill_rows(&mut self, top: usize, height: usize, colour: Colour) {
        self.fill_rect(0, top, self.width, height, colour);
    }

    pub fn fill_rect(
        &mut self,
        left: usize,
        top: usize,
        width: usize,
        height: usize,
        colour: Colour,
    ) {
        let right = left.saturating_add(width).min(self.width);
        let left = left.min(right);
        let rows = self.pixels.chunks_exact_mut(self.width);
        for row in rows.skip(top).take(height) {
            row[left..right].fill(colour.to_le_bytes());
        }
    }

    /// A convex shape. Shapes that share an edge leave no pixel between them out, nor draw one twice.
    pub fn fill_convex(&mut self, corners: &[Point], colour: Colour) {
        let Some(&last) = corners.last() else {
            return;
        };
        let (top, bottom) = corners
            .iter()
            .fold((f64::MAX, f64::MIN), |(top, bottom), p| {
                (top.min(p.y), bottom.max(p.y))
            });
        let lines = line_at(top, self.height)..line_at(bottom, self.height);
        self.spans[lines.clone()].fill((i64::MAX, i64::MIN));
        let mut from = last;
        for &to in corners {
            self.widen(from, to);
            from = to;
        }
        let rows = self.pixels.chunks_exact_mut(self.width);
        for (row, &(start, end)) in rows.zip(&self.spans).take(lines.end).skip(lines.start) {
            if start < end {
                let (start, end) = (column(start, self.width), column(end, self.width));
                row[start..end].fill(colour.to_le_bytes());
            }
        }
    }

    /// Makes the spans reach one edge of a shape.
    fn widen(&mut self, from: Point, to: Point) {
        // Always downwards, so that shapes on both sides of an edge agree about it.
        let (upper, lower) = if from.y <= to.y {
            (from, to)
        } else {
            (to, from)
        };
        let (first, end) = (line_at(upper.y, self.height), line_at(lower.y, self.height));
        if first >= end {
            return;
        }
        let slope = (lower.x - upper.x) / (lower.y - upper.y);
        let begin = upper.x + slope * (first as f64 + 0.5 - upper.y);
        let (mut x, slope) = (fixed(begin), fixed(slope));
        for span in &mut self.spans[first..end] {
            span.0 = span.0.min(x);
            span.1 = span.1.max(x);
            x += slope;
        }
    }

    pub fn blend(&mut self, mask: &Mask, left: usize, top: usize, colour: Colour) {
        let rows = self.pixels.chunks_exact_mut(self.width).skip(top);
        for (row, cover) in rows.zip(mask.cover.chunks_exact(mask.width.max(1))) {
            for (pixel, &cover) in row.iter_mut().skip(left).zip(cover) {
                *pixel = mix(Colour::from_le_bytes(*pixel), colour, cover).to_le_bytes();
            }
        }
    }
}

/// The first line whose middle is not above `y`.
fn line_at(y: f64, height: usize) -> usize {
    (y - 0.5).ceil().clamp(0.0, height as f64) as usize
}

/// The first column whose middle is not left of `x`.
fn column(x: i64, width: usize) -> usize {
    let column = (x - ONE / 2 + ONE - 1) >> FRACTION;
    column.clamp(0, width as i64) as usize
}

fn fixed(value: f64) -> i64 {
    (value.clamp(-FARTHEST, FARTHEST) * ONE as f64) as i64
}

fn mix(below: Colour, above: Colour, cover: u8) -> Colour {
    if cover == 0 {
        return below;
    }
    let channel = |shift: u32| {
        let (below, above) = ((below >> shift) & 0xff, (above >> shift) & 0xff);
        let cover = u32::from(cover);
        ((below * (255 - cover) + above * cover + 127) / 255) << shift
    };
    channel(16) | channel(8) | channel(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(canvas: &Canvas) -> Vec<String> {
        let dots: Vec<char> = canvas
            .colours()
            .map(|pixel| if pixel == 0 { '.' } else { '#' })
            .collect();
        let rows = dots.chunks(canvas.width());
        rows.map(|row| row.iter().collect()).collect()
    }

    fn corners(of: &[(f64, f64)]) -> Vec<Point> {
        of.iter().map(|&(x, y)| Point { x, y }).collect()
    }

    #[test]
    fn shapes_have_exact_pixels() {
        let mut canvas = Canvas::new(8, 6);
        canvas.fill_convex(&corners(&[(4.0, 0.0), (8.0, 4.0), (0.0, 4.0)]), 1);
        assert_eq!(
            picture(&canvas),
            [
                "...#....", "..###...", ".#####..", "#######.", "........", "........"
            ]
        );
        canvas.fill_rect(6, 4, 99, 99, 1);
        assert_eq!(picture(&canvas)[4..], ["......##", "......##"]);
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        let mut canvas = Canvas::new(4, 4);
        let far = 1e12;
        canvas.fill_convex(
            &corners(&[(-far, -far), (far, -far), (far, 2.0), (-far, 2.0)]),
            1,
        );
        assert_eq!(picture(&canvas), ["####", "####", "....", "...."]);
        canvas.fill_convex(&corners(&[(9.0, 9.0), (12.0, 9.0), (9.0, 12.0)]), 1);
        canvas.fill_convex(&[], 1);
        canvas.fill_rows(9, 9, 1);
        let mask = Mask {
            width: 2,
            height: 2,
            cover: vec![255; 4],
        };
        canvas.blend(&mask, 3, 3, 1);
        canvas.blend(&mask, 30, 30, 1);
        assert_eq!(picture(&canvas), ["####", "####", "....", "...#"]);
    }

    #[test]
    fn shapes_side_by_side_leave_nothing_out() {
        let mut canvas = Canvas::new(40, 40);
        let centre = (19.7, 20.3);
        let rim = |n: u32| {
            let angle = f64::from(n) * std::f64::consts::TAU / 7.0;
            (centre.0 + 90.0 * angle.cos(), centre.1 + 90.0 * angle.sin())
        };
        for n in 0..7 {
            canvas.fill_convex(&corners(&[centre, rim(n), rim(n + 1)]), 1);
        }
        assert!(canvas.colours().all(|pixel| pixel == 1));
    }

    #[test]
    fn half_cover_is_half_way() {
        assert_eq!(mix(0x0000_0000, 0x00ff_8000, 128), 0x0080_4000);
        assert_eq!(mix(0x0012_3456, 0x00ff_ffff, 0), 0x0012_3456);
        assert_eq!(mix(0x0012_3456, 0x00fe_dcba, 255), 0x00fe_dcba);
    }

    #[test]
    fn bytes_are_in_the_order_of_x_servers() {
        let mut canvas = Canvas::new(1, 1);
        canvas.fill(0x0001_0203);
        assert_eq!(canvas.bytes(), [3, 2, 1, 0]);
    }
}
