//! The files of a `cmd:` agent: which of its folder are its own, a copy of them taken once per run, and what
//! the record says about them. Knows nothing of programs and sandboxes, nor of what a suite expects.

mod copy;
mod looks;
mod needed;
mod rule;
mod walk;
mod why;

pub use copy::Bundle;
pub(crate) use copy::{BOUNDS, scratch, stage};
pub(crate) use rule::{Given, Rule};
