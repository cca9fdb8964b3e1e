//! OpenAI chat completions, and everything that is compatible with them.

mod adapter;
mod decode;
mod encode;
mod messages;
mod read;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use adapter::Chat;
