//! `qwen`: the Qwen models that see, with the `computer_use` function that they are taught, called in text.

mod kind;
mod manner;

pub(super) use kind::{KIND, WITH_OPTIONS};
#[cfg(test)]
pub(super) use manner::Qwen;
