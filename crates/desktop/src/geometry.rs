//! Sizes, points and rectangles in pixels. Knows nothing of X.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::DesktopError;

/// Longest side of a screen: what X's 16-bit coordinates and our memory bear.
pub const LONGEST_SIDE: u32 = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    pub const fn contains(self, x: i32, y: i32) -> bool {
        x >= 0 && y >= 0 && (x as u32) < self.width && (y as u32) < self.height
    }

    /// The whole of it, from its upper left corner.
    pub const fn rect(self) -> Rect {
        Rect {
            x: 0,
            y: 0,
            width: self.width,
            height: self.height,
        }
    }

    pub const fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Size {
    type Err = DesktopError;

    fn from_str(text: &str) -> Result<Self, DesktopError> {
        let side = |side: &str| side.parse().ok().filter(|n| (1..=LONGEST_SIDE).contains(n));
        text.split_once('x')
            .and_then(|(width, height)| Some(Self::new(side(width)?, side(height)?)))
            .ok_or_else(|| {
                DesktopError::Invalid(format!(
                    "`{text}` is no screen size: write WIDTHxHEIGHT, such as 1280x800"
                ))
            })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

impl Rect {
    pub const fn size(self) -> Size {
        Size::new(self.width, self.height)
    }

    /// What both have in common; `None` where that is nothing.
    pub fn intersect(self, other: Self) -> Option<Self> {
        let right = |r: Self| i64::from(r.x) + i64::from(r.width);
        let bottom = |r: Self| i64::from(r.y) + i64::from(r.height);
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let width = right(self).min(right(other)) - i64::from(x);
        let height = bottom(self).min(bottom(other)) - i64::from(y);
        match (u32::try_from(width), u32::try_from(height)) {
            (Ok(width @ 1..), Ok(height @ 1..)) => Some(Self {
                x,
                y,
                width,
                height,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_inside_and_their_neighbours_are_not() {
        let size = Size::new(1280, 800);
        for (x, y) in [(0, 0), (1279, 0), (0, 799), (1279, 799)] {
            assert!(size.contains(x, y));
        }
        for (x, y) in [(-1, 0), (1280, 0), (0, 800), (0, -1), (i32::MAX, i32::MIN)] {
            assert!(!size.contains(x, y));
        }
    }

    #[test]
    fn sizes_are_written_as_they_are_read() {
        assert_eq!("1280x800".parse::<Size>().unwrap().to_string(), "1280x800");
        for bad in [
            "",
            "x",
            "0x1",
            "1x0",
            "-1x5",
            "9000x10",
            "1280 x 800",
            "1x2x3",
        ] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn rectangles_beside_each_other_share_nothing() {
        let rect = |x, y, width, height| Rect {
            x,
            y,
            width,
            height,
        };
        let screen = rect(0, 0, 100, 100);
        assert_eq!(
            screen.intersect(rect(-10, 90, 20, 20)),
            Some(rect(0, 90, 10, 10))
        );
        assert_eq!(screen.intersect(rect(100, 0, 5, 5)), None);
        assert_eq!(screen.intersect(rect(i32::MAX, 0, u32::MAX, 1)), None);
    }
}
