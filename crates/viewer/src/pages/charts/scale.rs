//! Lengths and places in a drawing.

use std::fmt;

/// Of every drawing.
pub(crate) const WIDTH: f64 = 300.0;

/// A length in a drawing, written with one decimal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Px(pub(crate) f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

/// A place on an axis and what is written there.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) at: Px,
    pub(crate) label: String,
}
