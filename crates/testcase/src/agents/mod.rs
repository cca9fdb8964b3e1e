//! Agents that see a screen, and what they share. One agent is one [`Manner`]: how a model is spoken to and
//! what its answers mean. Everything else is done once:
//!
//! - [`GuiContender::open`] takes the run's first model and refuses one that can't see; `digest` covers what
//!   [`Manner::identity`] says.
//! - `GuiAgent` takes in the observation, fits the screen ([`Sight`], by [`Manner::sizing`]), asks the model
//!   on the trial's account, tells faults of the service from wrong answers, and hands out one action per
//!   step. Several calls of one answer ([`Reading::wishes`]) are queued; several actions of one call
//!   ([`Manner::actions`]) too. A kind that the task does not allow, and what [`Manner::actions`] refuses, is
//!   `NotAnAction`: recorded, told to the model, costs a step.
//! - `Conversation` keeps what was said; pictures beyond [`Manner::window`] are replaced by
//!   [`Manner::instead_of_picture`]; it is halved when the model finds it too long.
//! - [`Options`] are what follows the agent's name (`react:pictures=3,side=1024`): [`Options::parse`] checks
//!   and reads them, [`Options::sizing`], [`Options::pictures`] and [`Options::answers`] are what a manner's
//!   own functions give back, so that all agents take the same ones.
//!
//! A new agent: `impl Manner`, two `Kind`s in [`KINDS`] (with and without options). The dialect (JSON to
//! actions and back) is a file of [`crate::dialect`]; points go through [`crate::dialect::Frame`], which
//! knows the pointer too. `tests::play` plays a manner without an engine.

mod agent;
mod anthropic;
mod ask;
mod called;
mod contender;
mod conversation;
mod kinds;
mod manner;
mod openai;
mod options;
mod plain;
mod prompt;
mod qwen;
mod react;
mod sight;

pub use contender::GuiContender;
pub use kinds::KINDS;
pub use manner::{Done, Manner, Reading, Scene, What, Wish};
pub use options::Options;
pub use sight::{Grid, Sight, Sizing};

#[cfg(test)]
mod tests;
