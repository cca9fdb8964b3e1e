//! Where the points of a model's answers lie: in the picture that it was shown, or in a grid of its own.
//! Knows sizes and the pointer, no system's words.

use agon_core::ScreenPoint;
use agon_core::action::Point;
use agon_llm::picture::Mapping;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    mapping: Mapping,
    cursor: Option<ScreenPoint>,
}

impl Frame {
    /// `mapping` leads from the screen to the grid that the model counts in.
    pub const fn new(mapping: Mapping, cursor: Option<ScreenPoint>) -> Self {
        Self { mapping, cursor }
    }

    /// A screen that is shown as it is.
    pub fn same(width: u32, height: u32) -> Self {
        Self::new(Mapping::between((width, height), (width, height)), None)
    }

    /// The same with another place of the pointer, which is a pixel of the screen.
    #[must_use]
    pub const fn with_cursor(self, cursor: Option<ScreenPoint>) -> Self {
        Self { cursor, ..self }
    }

    /// The size that the model is told.
    pub const fn size(&self) -> (u32, u32) {
        self.mapping.sent()
    }

    /// The size of the screen itself.
    pub const fn screen(&self) -> (u32, u32) {
        self.mapping.original()
    }

    pub const fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// A pixel of the screen, from a point in the model's grid. The far edges count as inside: models name
    /// them for the last pixel.
    pub fn point(&self, x: f64, y: f64) -> Result<Point, String> {
        let (width, height) = self.size();
        let inside = |at: f64, size: u32| (0.0..=f64::from(size)).contains(&at);
        if !inside(x, width) || !inside(y, height) {
            return Err(format!(
                "the point ({x}, {y}) is not on the screen: x goes from 0 to {} and y from 0 to {}",
                width.saturating_sub(1),
                height.saturating_sub(1)
            ));
        }
        let (x, y) = self.mapping.to_original(x, y);
        Ok(Point {
            x: x.round() as i32,
            y: y.round() as i32,
        })
    }

    /// The point of the model's grid for a pixel of the screen.
    pub fn shown(&self, point: Point) -> (i32, i32) {
        let (x, y) = self.mapping.to_sent(f64::from(point.x), f64::from(point.y));
        (x.round() as i32, y.round() as i32)
    }

    /// Where the pointer is, if it is known.
    pub const fn pointer(&self) -> Option<ScreenPoint> {
        self.cursor
    }

    /// The pointer's pixel; the middle of the screen where it is not known.
    pub fn cursor(&self) -> Point {
        let (width, height) = self.screen();
        let middle = |size: u32| i32::try_from(size / 2).unwrap_or_default();
        self.cursor.map_or(
            Point {
                x: middle(width),
                y: middle(height),
            },
            |at| Point { x: at.x, y: at.y },
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn points_are_those_of_the_screen_again() {
        let frame = Frame::new(Mapping::between((1920, 1080), (960, 540)), None);
        assert_eq!(frame.point(0.0, 0.0), Ok(Point { x: 1, y: 1 }));
        assert_eq!(frame.point(480.0, 270.0), Ok(Point { x: 961, y: 541 }));
        assert_eq!(frame.point(959.0, 539.0), Ok(Point { x: 1919, y: 1079 }));
        assert_eq!(frame.cursor(), Point { x: 960, y: 540 });
        let pointed = frame.with_cursor(Some(ScreenPoint { x: 3, y: 4 }));
        assert_eq!(pointed.cursor(), Point { x: 3, y: 4 });
    }

    #[test]
    fn edges_are_inside_and_what_lies_beyond_is_not() {
        let frame = Frame::same(1280, 800);
        assert_eq!(frame.point(1280.0, 800.0), Ok(Point { x: 1279, y: 799 }));
        for (x, y) in [(-1.0, 0.0), (1281.0, 0.0), (0.0, 801.0), (f64::NAN, 0.0)] {
            let why = frame.point(x, y).unwrap_err();
            assert!(why.contains("0 to 1279 and y from 0 to 799"), "{why}");
        }
    }

    proptest! {
        #[test]
        fn a_pixel_comes_back_to_where_it_was(x in 0..1280i32, y in 0..800i32) {
            let frame = Frame::same(1280, 800);
            let (a, b) = frame.shown(Point { x, y });
            prop_assert_eq!(frame.point(f64::from(a), f64::from(b)), Ok(Point { x, y }));
        }

        #[test]
        fn a_point_of_a_smaller_picture_comes_back(x in 0..1000i32, y in 0..600i32) {
            let frame = Frame::new(Mapping::between((2500, 1500), (1000, 600)), None);
            let pixel = frame.point(f64::from(x), f64::from(y)).unwrap();
            prop_assert_eq!(frame.shown(pixel), (x, y));
        }
    }
}
