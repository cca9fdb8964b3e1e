//! The `Agent` contract, the built-in agents, and the transports for agents in any language.

pub mod contract;

pub use contract::{Agent, AgentError, Answer, Reply};
