//! The pages, drawn by templates: each file fills one.

mod cards;
mod caveats;
mod charts;
pub(crate) mod compare;
mod costs;
pub(crate) mod error;
mod facets;
pub(crate) mod frame;
pub(crate) mod live;
mod overview;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod side_by_side;
mod suites;
pub(crate) mod trial;

pub(crate) use frame::{Frame, embedded};
