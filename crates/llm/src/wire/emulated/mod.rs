//! Tools and schemas for models that have none: described in the prompt, and read out of the text.

mod answer;
mod calls;
mod conversation;
mod emulation;
mod prompt;
#[cfg(test)]
mod tests;

pub(crate) use emulation::Emulated;
