//! The agent as a server: plays the tasks it is sent, one at a time, and tells its evaluator of their
//! ends. Knows nothing of scores.

mod agents;
mod announcing;
mod control;
mod handlers;
mod machine;
mod runner;
mod server;
mod teller;
mod used;

pub(crate) use agents::Agents;
pub(crate) use runner::{End, Outcome, Runner, StepsOver, is_same};
pub(crate) use server::seed_of;
pub use server::{AgentExt, AgentServer};
