//! Simulated users: who answers an agent's messages.

mod contract;
mod fixed;
mod keyboard;
mod nudge;
mod own;
mod pattern;
mod persona;
mod rules;
mod script;
mod users;

pub use contract::{Heard, Person, Reply, Respondent, UserError};
pub use nudge::words as nudge;
pub use users::{UserContext, Users};
