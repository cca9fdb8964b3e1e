//! What models cost, in the shape of OpenHands' `Metrics`.

mod count;
mod names;
mod shape;

pub(crate) use count::dollars;
pub use count::is_of_agent;
pub use names::ModelNames;
pub use shape::{Cost, Metrics, ResponseLatency, TokenUsage};
