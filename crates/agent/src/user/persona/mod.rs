//! A user whom a language model plays: in character, with a goal and facts of its own, and checked.

mod character;
mod memory;
mod part;
mod quote;
mod truth;

pub(super) use character::Character;
