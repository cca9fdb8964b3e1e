//! What models cost, in the shape of OpenHands' `Metrics`.

mod count;
mod shape;

pub(crate) use count::dollars;
pub use count::is_of_agent;
pub use shape::{Cost, Metrics, ResponseLatency, TokenUsage};
