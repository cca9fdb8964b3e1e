//! Configuration: `config.toml`, the environment and `.env` into models that can be asked, and into the
//! settings of agents and their sandboxes. Asks nobody, and never shows a value that may be a key.

mod agent;
mod condenser;
mod core;
mod document;
mod dotenv;
mod endpoint;
mod environment;
mod error;
mod fields;
mod llm;
mod load;
mod name;
mod nearest;
mod raw;
mod resolve;
mod sandbox;
mod secret;
mod source;
mod vendor;
mod workflow;

pub use agent::AgentSection;
pub use condenser::Condenser;
pub use core::Core;
pub use environment::Environment;
pub use error::ConfigError;
pub use load::Config;
pub use resolve::KeyOrigin;
pub use sandbox::Sandbox;
pub use secret::{Confidential, Secret};
pub use source::ConfigSource;
pub use vendor::{FORMS, key_variables};
pub use workflow::Workflow;

#[cfg(test)]
mod tests;
