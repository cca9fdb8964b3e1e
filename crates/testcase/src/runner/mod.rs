//! Runners from outside: they get a test case and play it wherever they want.

mod command;
mod contender;
mod contract;
mod http;

pub use contender::{contender, entered};
pub use contract::{MaxSteps, Runner, RunnerConfig, RunnerError};
