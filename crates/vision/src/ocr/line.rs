//! A line of text that was read, where, and how sure that is; and the order in which people read.

use agon_core::Region;

/// Text that stands together on one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub text: String,
    pub region: Region,
    /// Of the whole line, from 0 to 1.
    pub confidence: f64,
    /// Of each character of `text`, from 0 to 1.
    pub letters: Vec<f32>,
}

impl Line {
    /// A line all of whose characters are equally sure.
    pub fn new(text: impl Into<String>, region: Region, confidence: f64) -> Self {
        let text = text.into();
        Self {
            letters: vec![confidence as f32; text.chars().count()],
            text,
            region,
            confidence,
        }
    }
}

/// Whether two regions stand in the same row: most of the lower one's height is shared.
pub(crate) fn same_row(a: Region, b: Region) -> bool {
    let top = a.y.max(b.y);
    let bottom =
        a.y.saturating_add(a.height)
            .min(b.y.saturating_add(b.height));
    2 * u64::from(bottom.saturating_sub(top)) > u64::from(a.height.min(b.height))
}

/// Top to bottom, and from left to right what stands in one row.
pub(crate) fn in_reading_order<T>(mut items: Vec<T>, region: impl Fn(&T) -> Region) -> Vec<T> {
    items.sort_by_key(|item| {
        let region = region(item);
        (u64::from(region.y) * 2 + u64::from(region.height), region.x)
    });
    let mut ordered: Vec<T> = Vec::with_capacity(items.len());
    let mut row: Vec<T> = Vec::new();
    for item in items {
        let new = row
            .first()
            .is_some_and(|first| !same_row(region(first), region(&item)));
        if new {
            row.sort_by_key(|item| region(item).x);
            ordered.append(&mut row);
        }
        row.push(item);
    }
    row.sort_by_key(|item| region(item).x);
    ordered.append(&mut row);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_left_to_right() {
        let at = |x, y, height| Region {
            x,
            y,
            width: 10,
            height,
        };
        let right = at(200, 10, 20);
        let left = at(0, 13, 20);
        let below = at(50, 40, 20);
        let ordered = in_reading_order(vec![below, right, left], |region| *region);
        assert_eq!(ordered, [left, right, below]);
    }
}
