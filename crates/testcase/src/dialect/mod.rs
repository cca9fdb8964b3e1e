//! Other systems' ways to write down what is done on a screen, each to Agon's actions and back.

mod chord;
pub(crate) mod embedded;
mod frame;
mod given;
pub(crate) mod tool_call;

pub mod anthropic;
pub mod openai;
pub mod own;
pub mod qwen;
pub mod react;

#[cfg(test)]
mod samples;

pub use frame::Frame;
