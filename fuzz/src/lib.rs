//! What is fuzzed: the parser alone and not its crate, so that it is built in a minute with nothing beside it.

#[path = "../../crates/predict/src/parse/mod.rs"]
pub mod parse;
