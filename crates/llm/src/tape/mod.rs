//! Tapes: calls as they were, to be answered again without any service.
//!
//! A tape is a file of JSON lines. The first says `{"agon_tape":1}`. A line
//! `{"key", "wire", "model", "body", "response"}` is one answered call: `key` is the SHA-256 over the
//! canonical JSON of wire, model and body, by which it is found again. A string of more than 4 KiB (a
//! screen, a long prompt) has a line `{"text": SHA-256, "is": "..."}` of its own before the first line
//! that needs it, and stands in bodies as `{"$agon_text": SHA-256}`: conversations repeat themselves.
//! Lines are only ever added; a last line that is torn never counted. Keys of services are not in it.

mod difference;
mod file;
mod recording;
mod replay;
mod request;
mod text;

#[cfg(test)]
mod tests;

pub use recording::Recording;
pub use replay::Tape;
