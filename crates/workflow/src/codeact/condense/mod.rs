//! How a history that has grown too long is made shorter.

mod condenser;
mod summary;

pub use condenser::Condenser;
pub(super) use condenser::{Need, older_half};
pub(super) use summary::PROMPT;
