//! CodeAct: an agent of ours that works with the tools that users of OpenHands know, by asking one model.
//! It knows its brief and what it observed, as every agent does; the engine's loop plays it.

mod agent;
mod arguments;
mod asking;
mod calls;
mod condense;
mod contender;
mod cut;
mod history;
mod messages;
mod options;
mod past;
mod prompt;
mod scripted;
mod seen;
mod shown;
mod tools;
mod tracker;

#[cfg(test)]
mod tests;

pub use agent::CodeAct;
pub use condense::Condenser;
pub(crate) use contender::open;
pub use contender::{CodeActContender, KINDS};
pub use options::Options;
pub(crate) use past::Past;
