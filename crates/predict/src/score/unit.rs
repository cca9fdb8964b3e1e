//! In which unit a model writes points, and how they become pixels.

use std::fmt;
use std::str::FromStr;

use agon_core::prediction::Window;
use serde::{Deserialize, Serialize};

use crate::parse::Point;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointUnit {
    /// Of the screen, or of the picture.
    #[default]
    Pixels,
    /// From 0 to 1 over the picture.
    Relative,
    /// From 0 to 100 over the picture.
    Percent,
    /// From 0 to 1000 over the picture.
    Thousandths,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no unit of points; there are: pixels, relative, percent, thousandths")]
pub struct UnknownUnit(String);

impl PointUnit {
    pub const ALL: [Self; 4] = [
        Self::Pixels,
        Self::Relative,
        Self::Percent,
        Self::Thousandths,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pixels => "pixels",
            Self::Relative => "relative",
            Self::Percent => "percent",
            Self::Thousandths => "thousandths",
        }
    }

    /// The point in pixels; `window` is the whole picture.
    pub fn in_pixels(self, point: Point, window: &Window) -> Point {
        let whole = match self {
            Self::Pixels => return point,
            Self::Relative => 1.0,
            Self::Percent => 100.0,
            Self::Thousandths => 1000.0,
        };
        Point {
            x: window.left as f64 + point.x / whole * window.width as f64,
            y: window.top as f64 + point.y / whole * window.height as f64,
        }
    }
}

impl fmt::Display for PointUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PointUnit {
    type Err = UnknownUnit;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|unit| unit.name() == text)
            .ok_or_else(|| UnknownUnit(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_pixels() {
        let window = Window {
            left: 10,
            top: 20,
            width: 200,
            height: 100,
            ..Window::default()
        };
        for (unit, x, y) in [
            (PointUnit::Pixels, 60.0, 95.0),
            (PointUnit::Relative, 0.25, 0.75),
            (PointUnit::Percent, 25.0, 75.0),
            (PointUnit::Thousandths, 250.0, 750.0),
        ] {
            let point = unit.in_pixels(Point { x, y }, &window);
            assert_eq!(point, Point { x: 60.0, y: 95.0 }, "{unit}");
        }
    }

    #[test]
    fn units_have_names() {
        for unit in PointUnit::ALL {
            assert_eq!(unit.name().parse(), Ok(unit));
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.name());
        }
        let error = "miles".parse::<PointUnit>().unwrap_err().to_string();
        assert!(error.contains("pixels, relative"), "{error}");
    }
}
