//! The geometry of the drawings on a run's page; the template only places what is computed here. Units are
//! those of a drawing `WIDTH` wide. Every chart says in words what it shows, for those who can't see it.

mod bars;
mod columns;
mod flow;

use std::fmt;

pub(crate) use bars::{Bars, Named};
pub(crate) use columns::Columns;
pub(crate) use flow::Flow;

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
