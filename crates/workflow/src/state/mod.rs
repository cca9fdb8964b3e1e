//! What a controller knows of an agent's work, in the shape of OpenHands' `State`. Made from the record of
//! a trial; nobody changes it.

mod error;
mod flag;
mod of_record;
mod shape;
#[cfg(test)]
mod tests;

pub use error::last_error;
pub use flag::{ControlFlag, TrafficControlState};
pub use of_record::{Bounds, Ending};
pub use shape::{AgentState, State};
