//! Points of a scaled picture and the pixels of the screen that they stand for. Whoever sees the
//! small picture points into it, and means the screen.

use serde::Serialize;

use crate::geometry::{Point, Rect, Size};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Mapping {
    /// The part of the screen that the picture shows.
    screen: Rect,
    /// The size of the picture, at most that of `screen`.
    picture: Size,
}

impl Mapping {
    pub(super) const fn new(screen: Rect, picture: Size) -> Self {
        Self { screen, picture }
    }

    /// The pixel on the screen in the middle of the area that a pixel of the picture shows. A point
    /// outside of the picture means the nearest one within.
    pub fn to_screen(&self, point: Point) -> Point {
        Point {
            x: spread(point.x, self.picture.width, self.screen.width) + self.screen.x,
            y: spread(point.y, self.picture.height, self.screen.height) + self.screen.y,
        }
    }

    /// The pixel of the picture that shows most of a pixel of the screen. A point outside of what the
    /// picture shows means the nearest one within.
    pub fn to_picture(&self, point: Point) -> Point {
        let within = |at: i32, start: i32| at.saturating_sub(start);
        Point {
            x: spread(
                within(point.x, self.screen.x),
                self.screen.width,
                self.picture.width,
            ),
            y: spread(
                within(point.y, self.screen.y),
                self.screen.height,
                self.picture.height,
            ),
        }
    }
}

/// The cell of `to` in which the centre of the cell `at` of `from` lies.
fn spread(at: i32, from: u32, to: u32) -> i32 {
    let last = i64::from(from.max(1)) - 1;
    let at = i64::from(at).clamp(0, last);
    let cell = (2 * at + 1) * i64::from(to) / (2 * i64::from(from.max(1)));
    // Sizes are of 16 bits.
    cell.min(i64::from(to.max(1)) - 1) as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mapping() -> impl Strategy<Value = Mapping> {
        (1_u32..=8192, 1_u32..=8192, -50_i32..5000, -50_i32..5000)
            .prop_flat_map(|(width, height, x, y)| {
                (Just((width, height, x, y)), 1..=width, 1..=height)
            })
            .prop_map(|((width, height, x, y), small_width, small_height)| {
                let screen = Rect {
                    x,
                    y,
                    width,
                    height,
                };
                Mapping::new(screen, Size::new(small_width, small_height))
            })
    }

    proptest! {
        #[test]
        fn a_point_of_the_picture_comes_back(mapping in mapping(), x in 0_i32..8192, y in 0_i32..8192) {
            let picture = Point {
                x: x % mapping.picture.width as i32,
                y: y % mapping.picture.height as i32,
            };
            let screen = mapping.to_screen(picture);
            prop_assert_eq!(mapping.to_picture(screen), picture);
        }

        #[test]
        fn a_point_of_the_screen_comes_back_to_its_area(mapping in mapping(), x in 0_i32..8192, y in 0_i32..8192) {
            let start = mapping.screen;
            let screen = Point {
                x: start.x + x % start.width as i32,
                y: start.y + y % start.height as i32,
            };
            let back = mapping.to_screen(mapping.to_picture(screen));
            // No further away than one pixel of the picture is large.
            prop_assert!(back.x.abs_diff(screen.x) <= start.width.div_ceil(mapping.picture.width));
            prop_assert!(back.y.abs_diff(screen.y) <= start.height.div_ceil(mapping.picture.height));
        }

        #[test]
        fn nothing_leads_outside(mapping in mapping(), x in any::<i32>(), y in any::<i32>()) {
            let screen = mapping.to_screen(Point { x, y });
            let start = mapping.screen;
            prop_assert!(start.size().contains(screen.x - start.x, screen.y - start.y));
            let picture = mapping.to_picture(Point { x, y });
            prop_assert!(mapping.picture.contains(picture.x, picture.y));
        }
    }

    #[test]
    fn the_middle_of_an_area_is_meant() {
        let screen = Rect {
            x: 100,
            y: 0,
            width: 1920,
            height: 1080,
        };
        let mapping = Mapping::new(screen, Size::new(192, 108));
        assert_eq!(
            mapping.to_screen(Point { x: 0, y: 0 }),
            Point { x: 105, y: 5 }
        );
        assert_eq!(
            mapping.to_screen(Point { x: 191, y: 107 }),
            Point { x: 2015, y: 1075 }
        );
        assert_eq!(
            mapping.to_picture(Point { x: 109, y: 9 }),
            Point { x: 0, y: 0 }
        );
        assert_eq!(
            mapping.to_picture(Point { x: 110, y: 10 }),
            Point { x: 1, y: 1 }
        );
    }
}
