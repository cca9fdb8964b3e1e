//! OpenAI Responses.

mod adapter;
mod decode;
mod encode;
mod items;
mod read;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use adapter::Responses;
