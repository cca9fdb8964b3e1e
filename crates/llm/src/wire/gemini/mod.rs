//! Gemini generateContent. The gateway does not speak it: clients of their own use one of the other
//! forms, and are answered by Gemini models all the same.

mod adapter;
mod content;
mod decode;
mod encode;
mod fault;
mod stream;
mod thinking;
mod tools;
mod traits;

pub(crate) use adapter::Gemini;

#[cfg(test)]
mod tests;
