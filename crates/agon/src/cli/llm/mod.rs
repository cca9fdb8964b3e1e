//! `agon llm`: which models there are, and one question to one of them; and how every other command
//! comes to its models.

mod args;
mod ask;
mod check;
mod command;
mod install;
mod list;
mod open;

pub(super) use args::{LlmCommand, ModelArgs};
pub(super) use command::llm;
pub(super) use open::OpenModels;
