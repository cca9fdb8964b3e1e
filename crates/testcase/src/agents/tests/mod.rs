//! Agents that see, without an engine: what models say is given, what screens show is given.

mod answers;
mod chords;
mod faults;
mod pictures;
pub(in crate::agents) mod play;
