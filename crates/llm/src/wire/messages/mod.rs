//! Anthropic Messages.

mod adapter;
mod content;
mod decode;
mod encode;
mod fault;
mod read;
mod schema;
mod stream;
mod thinking;
mod tools;
mod traits;
mod write;

pub(crate) use adapter::Messages;
pub(crate) use traits::Traits;

#[cfg(test)]
mod tests;
