//! Reads actions and points out of a model's answer. Nothing is ever evaluated: an answer is text in,
//! values out, bounded in length, depth, number and steps. Knows nothing of windows and scores.

mod action;
mod answer;
mod cursor;
mod literal;
mod number;
mod place;
mod point;
mod python;
mod reader;
mod refusal;
mod search;
mod value;

#[cfg(test)]
mod properties;

pub use action::MAX_ACTIONS;
pub use answer::parse;
pub use cursor::{MAX_BYTES, MAX_DEPTH};
pub use point::{Point, point_of};
pub use python::to_python;
pub use refusal::ParseError;
