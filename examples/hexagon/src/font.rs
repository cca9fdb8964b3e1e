//! Letters as strokes of a round pen, made into pixels once per size. They are plain and wide apart,
//! so that programs that read pictures get them right: `0` is narrow and `O` is round, `1` has a flag
//! and a foot, `5` and `B` have corners where `S` and `8` have none.

use std::collections::BTreeMap;

use crate::canvas::{Canvas, Colour, Mask};

/// Strokes lie on a grid of so many rows.
const ROWS: f64 = 12.0;
/// All of these in units of the grid: thickness of the pen, room between letters, width of a space.
const PEN: f64 = 1.9;
const GAP: f64 = 2.5;
const SPACE: f64 = 5.0;

/// A point is a column (`0` to `8`) and a row (`a` to `m`, from the top); strokes are apart by spaces.
const STROKES: [(char, &str); 38] = [
    ('A', "0m4a8m 1i7i"),
    ('B', "0a0m 0a5a7c7e5g0g 5g6g8i8k6m0m"),
    ('C', "8c6a2a0c0k2m6m8k"),
    ('D', "0a0m5m8j8d5a0a"),
    ('E', "7a0a0m7m 0g6g"),
    ('F', "7a0a0m 0g6g"),
    ('G', "8c6a2a0c0k2m6m8k8g5g"),
    ('H', "0a0m 8a8m 0g8g"),
    ('I', "0a4a 2a2m 0m4m"),
    ('J', "6a6k4m2m0k"),
    ('K', "0a0m 7a0h 2f7m"),
    ('L', "0a0m7m"),
    ('M', "0m0a4h8a8m"),
    ('N', "0m0a8m8a"),
    ('O', "3a5a8d8j5m3m0j0d3a"),
    ('P', "0m0a6a8c8e6g0g"),
    ('Q', "3a5a8d8j5m3m0j0d3a 5j8m"),
    ('R', "0m0a6a8c8e6g0g 4g8m"),
    ('S', "8c6a2a0c0e2g6g8i8k6m2m0k"),
    ('T', "0a8a 4a4m"),
    ('U', "0a0k2m6m8k8a"),
    ('V', "0a4m8a"),
    ('W', "0a2m4e6m8a"),
    ('X', "0a8m 8a0m"),
    ('Y', "0a4g8a 4g4m"),
    ('Z', "0a8a0m8m"),
    ('0', "2a4a6d6j4m2m0j0d2a"),
    ('1', "0c3a3m 0m6m"),
    ('2', "0c2a5a7c7e0m7m"),
    ('3', "0b2a5a7c7e5g3g 5g7i7k5m2m0l"),
    ('4', "5m5a0i7i"),
    ('5', "7a0a0f4f7h7k5m2m0l"),
    ('6', "6b5a2a0d0k2m5m7k7h5f2f0h"),
    ('7', "0a7a3m"),
    ('8', "3a4a6c6e4g3g1e1c3a 3g2g0i0k2m5m7k7i5g4g"),
    ('9', "1l2m5m7j7c5a2a0c0f2h5h7f"),
    (':', "0d1d1e0e0d 0j1j1k0k0j"),
    ('.', "0l1l1m0m0l"),
];

/// All letters in one size.
#[derive(Debug)]
pub struct Font {
    height: usize,
    /// Pixels per unit of the grid.
    unit: f64,
    letters: BTreeMap<char, Mask>,
}

impl Font {
    /// Letters that are `height` pixels high.
    pub fn new(height: usize) -> Self {
        let unit = height as f64 / (ROWS + PEN);
        let letters = STROKES
            .iter()
            .map(|&(letter, strokes)| (letter, draw(&lines(strokes), height, unit)))
            .collect();
        Self {
            height,
            unit,
            letters,
        }
    }

    pub const fn height(&self) -> usize {
        self.height
    }

    /// Pixels from the left edge of a text to its right edge.
    pub fn width(&self, text: &str) -> usize {
        let all: usize = text.chars().map(|letter| self.advance(letter)).sum();
        all.saturating_sub(self.gap())
    }

    /// Letters that the font does not have are left out.
    pub fn write(&self, canvas: &mut Canvas, text: &str, left: usize, top: usize, colour: Colour) {
        let mut left = left;
        for letter in text.chars() {
            if let Some(mask) = self.letters.get(&letter) {
                canvas.blend(mask, left, top, colour);
            }
            left += self.advance(letter);
        }
    }

    fn gap(&self) -> usize {
        (GAP * self.unit).round() as usize
    }

    fn advance(&self, letter: char) -> usize {
        match self.letters.get(&letter) {
            Some(mask) => mask.width + self.gap(),
            None if letter == ' ' => (SPACE * self.unit).round() as usize + self.gap(),
            None => 0,
        }
    }
}

type Place = (f64, f64);

/// The lines of all strokes, each from one point to the next.
fn lines(strokes: &str) -> Vec<(Place, Place)> {
    let points = |stroke: &str| -> Vec<Place> {
        let (points, _) = stroke.as_bytes().as_chunks::<2>();
        points
            .iter()
            .map(|&[column, row]| (f64::from(column - b'0'), f64::from(row - b'a')))
            .collect()
    };
    strokes
        .split(' ')
        .flat_map(|stroke| {
            let points = points(stroke);
            let ends = points.clone().into_iter().skip(1);
            points.into_iter().zip(ends).collect::<Vec<_>>()
        })
        .collect()
}

fn draw(lines: &[(Place, Place)], height: usize, unit: f64) -> Mask {
    let columns = lines
        .iter()
        .map(|(from, to)| from.0.max(to.0))
        .fold(0.0, f64::max);
    let width = ((columns + PEN) * unit).ceil() as usize;
    let cover = |index: usize| {
        let (x, y) = (index % width, index / width);
        let place = (
            (x as f64 + 0.5) / unit - PEN / 2.0,
            (y as f64 + 0.5) / unit - PEN / 2.0,
        );
        let nearest = lines
            .iter()
            .map(|&line| distance(place, line))
            .fold(f64::MAX, f64::min);
        // Pixels at the edge of a stroke are covered in part.
        let inside = (PEN / 2.0 - nearest) * unit + 0.5;
        (inside.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    Mask {
        width,
        height,
        cover: (0..width * height).map(cover).collect(),
    }
}

fn distance(place: Place, (from, to): (Place, Place)) -> f64 {
    let along = (to.0 - from.0, to.1 - from.1);
    let length = along.0.mul_add(along.0, along.1 * along.1);
    let way = (place.0 - from.0, place.1 - from.1);
    let share = ((way.0 * along.0 + way.1 * along.1) / length).clamp(0.0, 1.0);
    (way.0 - share * along.0).hypot(way.1 - share * along.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(text: &str, height: usize) -> String {
        let font = Font::new(height);
        let width = u16::try_from(font.width(text)).unwrap();
        let mut canvas = Canvas::new(width, u16::try_from(height).unwrap());
        font.write(&mut canvas, text, 0, 0, 0x00ff_ffff);
        let ink = |pixel: Colour| match pixel & 0xff {
            0..=63 => ' ',
            64..=159 => '-',
            _ => '#',
        };
        let ink: Vec<char> = canvas.colours().map(ink).collect();
        let row = |row: &[char]| row.iter().collect::<String>().trim_end().to_owned() + "\n";
        ink.chunks(canvas.width()).map(row).collect()
    }

    #[test]
    fn text_has_exact_pixels() {
        insta::assert_snapshot!("last", picture("LAST 12:34", 16));
        insta::assert_snapshot!("digits", picture("0123456789", 20));
        insta::assert_snapshot!("retry", picture("PRESS SPACE TO RETRY", 20));
    }

    /// Pixels in which two letters differ, of those that either covers.
    fn difference(font: &Font, a: char, b: char) -> f64 {
        let cover = |letter: char, x: usize, y: usize| {
            let mask = &font.letters[&letter];
            let inside = x < mask.width;
            if inside {
                mask.cover[y * mask.width + x]
            } else {
                0
            }
        };
        let (mut differ, mut either) = (0.0, 0.0);
        for y in 0..font.height {
            for x in 0..font.height {
                let (a, b) = (cover(a, x, y), cover(b, x, y));
                differ += f64::from(a.abs_diff(b));
                either += f64::from(a.max(b));
            }
        }
        differ / either
    }

    #[test]
    fn letters_that_look_alike_are_well_apart() {
        let font = Font::new(16);
        for (a, b) in [
            ('0', 'O'),
            ('1', 'I'),
            ('5', 'S'),
            ('8', 'B'),
            ('2', 'Z'),
            ('6', '8'),
        ] {
            let apart = difference(&font, a, b);
            assert!(apart > 0.3, "{a} and {b}: {apart}");
        }
    }

    #[test]
    fn widths_are_those_that_are_drawn() {
        let font = Font::new(20);
        assert_eq!(font.width(""), 0);
        assert_eq!(font.width("A"), font.letters[&'A'].width);
        let mut canvas = Canvas::new(300, 20);
        font.write(&mut canvas, "HH", 0, 0, 0x00ff_ffff);
        let drawn = canvas
            .colours()
            .enumerate()
            .filter(|(_, colour)| *colour != 0);
        let right = drawn.map(|(index, _)| index % 300 + 1).max();
        assert_eq!(right, Some(font.width("HH")));
        font.write(&mut canvas, "\u{1f600}", 0, 0, 1);
    }
}
