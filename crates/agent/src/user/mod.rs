//! Simulated users: who answers an agent's messages.

mod contract;
mod script;
mod users;

pub use contract::{Heard, Person, Reply, Respondent, UserError};
pub use users::{UserContext, Users};
