//! The `Agent` contract, the built-in agents, and the transports for agents in any language.
//!
//! An agent is named by a spec on the command line ([`AgentSpec`]), opened once per run
//! ([`AgentFactory`]) and made anew for every trial. A new agent is one new file and one line in
//! `registry.rs`.

pub mod contract;
pub mod elsewhere;
mod error;
mod factory;
pub mod play;
mod registry;
mod spec;
pub mod user;
mod words;

mod http;
mod noop;
mod oracle;
mod random;
mod replay;

mod bundle;
mod cmd;
mod cmd_host;
mod gateway;
mod layout;
mod lines;
mod program;
mod tail;
pub mod wire;
mod wire_screen;

pub use bundle::Bundle;
pub use contract::{Agent, AgentError, Answer, Pictures, Reply};
pub use error::SetupError;
pub use factory::{AgentFactory, Contender, Services, TrialContext};
pub use registry::{KINDS, Kind, Open};
pub use spec::AgentSpec;
pub use words::split as split_words;
