//! Whether an agent only repeats itself.

mod detector;
mod rule;
mod step;

pub(crate) use detector::Detector;
pub(crate) use step::Deed;
