//! From the map that detection gives (how likely each point belongs to text) to rectangles around
//! lines of text. Rectangles stand upright: text on screens does.

use agon_core::Region;

/// A point belongs to text from here on.
const TEXT: f32 = 0.3;
/// A box must be text with this certainty, on average.
const BOX: f32 = 0.5;
/// Smaller than this, in points of the map, is no text.
const SMALLEST: usize = 3;
/// Detection draws text thinner than it is: by this factor of area to outline.
const GROWTH: f32 = 1.6;
/// Boxes of a picture, before they are joined to lines: there is no room for more words.
const MOST_BOXES: usize = 4000;
/// Lines that are read. More than fit on a desktop full of text.
const MOST_LINES: usize = 1000;

/// A rectangle of the map; right and bottom lie outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TextBox {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
}

impl TextBox {
    fn height(self) -> f32 {
        self.bottom - self.top
    }

    fn around(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// In pixels of a picture of which the map shows `scale` points per pixel.
    pub(super) fn region(self, scale: f32, offset: f32, width: u32, height: u32) -> Option<Region> {
        let at = |value: f32, most: u32| ((value - offset) / scale).clamp(0.0, most as f32);
        let (x, y) = (at(self.left, width).floor(), at(self.top, height).floor());
        let (right, bottom) = (at(self.right, width).ceil(), at(self.bottom, height).ceil());
        let region = Region {
            x: x as u32,
            y: y as u32,
            width: (right - x) as u32,
            height: (bottom - y) as u32,
        };
        (region.width > 1 && region.height > 3).then_some(region)
    }
}

/// The lines of text in a map, which has `width` points in each row; none if there are more than can be
/// read. Some of them are never left out: what is written there would go unseen.
pub(super) fn lines(map: &[f32], width: usize) -> Option<Vec<TextBox>> {
    let boxes = components(map, width)?
        .into_iter()
        .filter(|found| certainty(map, width, *found) >= BOX)
        .map(|found| {
            let (w, h) = (found.width() as f32, found.height() as f32);
            let more = w * h * GROWTH / (2.0 * (w + h));
            TextBox {
                left: found.left as f32 - more,
                top: found.top as f32 - more,
                right: found.right as f32 + more,
                bottom: found.bottom as f32 + more,
            }
        })
        .collect();
    let lines = joined(boxes);
    (lines.len() <= MOST_LINES).then_some(lines)
}

/// Points that hang together; right and bottom lie outside.
#[derive(Debug, Clone, Copy)]
struct Component {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Component {
    fn width(self) -> usize {
        self.right - self.left
    }

    fn height(self) -> usize {
        self.bottom - self.top
    }
}

/// None if there are too many.
fn components(map: &[f32], width: usize) -> Option<Vec<Component>> {
    let Some(height) = map.len().checked_div(width) else {
        return Some(Vec::new());
    };
    let mut open: Vec<bool> = map.iter().map(|value| *value > TEXT).collect();
    let mut found = Vec::new();
    let mut todo = Vec::new();
    for start in 0..width * height {
        if !open[start] {
            continue;
        }
        open[start] = false;
        todo.push(start);
        let mut part = Component {
            left: width,
            top: height,
            right: 0,
            bottom: 0,
        };
        while let Some(at) = todo.pop() {
            let (x, y) = (at % width, at / width);
            part.left = part.left.min(x);
            part.right = part.right.max(x + 1);
            part.top = part.top.min(y);
            part.bottom = part.bottom.max(y + 1);
            for y in y.saturating_sub(1)..(y + 2).min(height) {
                for x in x.saturating_sub(1)..(x + 2).min(width) {
                    let near = y * width + x;
                    if open[near] {
                        open[near] = false;
                        todo.push(near);
                    }
                }
            }
        }
        if part.width() >= SMALLEST && part.height() >= SMALLEST {
            if found.len() == MOST_BOXES {
                return None;
            }
            found.push(part);
        }
    }
    Some(found)
}

fn certainty(map: &[f32], width: usize, part: Component) -> f32 {
    let rows = (part.top..part.bottom).map(|y| &map[y * width + part.left..y * width + part.right]);
    let sum: f32 = rows.map(|row| row.iter().sum::<f32>()).sum();
    sum / (part.width() * part.height()) as f32
}

/// Words of one line that were found apart: as high as each other, in one row, and no further apart
/// than a letter is high.
fn joined(mut boxes: Vec<TextBox>) -> Vec<TextBox> {
    boxes.sort_by(|a, b| a.left.total_cmp(&b.left));
    let mut lines: Vec<TextBox> = Vec::with_capacity(boxes.len());
    for next in boxes {
        match lines.iter_mut().rev().find(|line| belongs(**line, next)) {
            Some(line) => *line = line.around(next),
            None => lines.push(next),
        }
    }
    lines
}

fn belongs(line: TextBox, next: TextBox) -> bool {
    let shared = line.bottom.min(next.bottom) - line.top.max(next.top);
    let (low, high) = (
        line.height().min(next.height()),
        line.height().max(next.height()),
    );
    // Grown boxes overlap a little where words stand close.
    let gap = next.left - line.right;
    shared > 0.6 * low && high < 1.6 * low && gap < 0.6 * low && next.right > line.right
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(width: usize, height: usize, blocks: &[(usize, usize, usize, usize)]) -> Vec<f32> {
        let mut map = vec![0.0; width * height];
        for &(x, y, w, h) in blocks {
            for row in y..y + h {
                map[row * width + x..row * width + x + w].fill(0.9);
            }
        }
        map
    }

    #[test]
    fn a_block_of_text_is_found_and_grown() {
        let found = lines(&map(100, 50, &[(20, 10, 40, 8)]), 100).unwrap();
        assert_eq!(found.len(), 1);
        let more = 40.0 * 8.0 * GROWTH / 96.0;
        assert!((found[0].left - (20.0 - more)).abs() < 0.01);
        assert!((found[0].bottom - (18.0 + more)).abs() < 0.01);
    }

    #[test]
    fn words_of_a_line_are_joined_and_columns_are_not() {
        let words = map(
            300,
            40,
            &[(10, 10, 40, 8), (60, 10, 40, 8), (200, 10, 40, 8)],
        );
        assert_eq!(lines(&words, 300).unwrap().len(), 2);
        let rows = map(300, 60, &[(10, 10, 40, 8), (10, 36, 40, 8)]);
        assert_eq!(lines(&rows, 300).unwrap().len(), 2);
    }

    #[test]
    fn dots_are_no_text() {
        let dots = map(50, 50, &[(5, 5, 2, 2), (20, 20, 1, 30)]);
        assert_eq!(lines(&dots, 50), Some(Vec::new()));
    }

    #[test]
    fn too_many_are_refused_and_never_cut_short() {
        let spread = |count: usize| {
            let blocks: Vec<_> = (0..count)
                .map(|at| (at % 20 * 20, at / 20 * 20, 4, 4))
                .collect();
            lines(&map(400, count.div_ceil(20) * 20, &blocks), 400)
        };
        assert_eq!(
            spread(MOST_LINES).map(|found| found.len()),
            Some(MOST_LINES)
        );
        assert_eq!(spread(MOST_LINES + 1), None);
        // Too faint to be text, but too many to be looked at.
        let points: Vec<f32> = (0..256 * 256)
            .map(|at| match (at % 256 % 4, at / 256 % 4) {
                (3, _) | (_, 3) => 0.0,
                _ => 0.31,
            })
            .collect();
        assert_eq!(lines(&points, 256), None);
    }

    #[test]
    fn regions_stay_in_the_picture() {
        let found = TextBox {
            left: -20.0,
            top: 10.0,
            right: 900.0,
            bottom: 40.0,
        };
        let region = found.region(2.0, 16.0, 100, 10).unwrap();
        assert_eq!((region.x, region.y), (0, 0));
        assert_eq!((region.width, region.height), (100, 10));
    }

    proptest! {
        #[test]
        fn any_map_has_an_end(
            values in prop::collection::vec(-1f32..2.0, 0..400),
            width in 0usize..40,
        ) {
            let rows = values.len().checked_div(width).unwrap_or(0);
            let found = lines(&values[..rows * width], width);
            prop_assert!(found.is_some_and(|found| found.len() <= MOST_LINES));
        }
    }
}
