//! Where an agent's actions are carried out, for programs that do so step by step.

mod create;
mod error;
mod files;

pub(crate) use create::Connected;
pub use create::{Runtime, create_runtime};
pub use error::RuntimeError;
