//! Numbers among what was read: next to which word they stand, and how they are written. Knows lines
//! of text, not pictures.

mod find;
mod form;
mod word;

pub use find::{Reading, find, has_word};
