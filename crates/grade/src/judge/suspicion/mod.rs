//! Words in the evidence that give orders to a judge. Whoever finds some marks them, and changes no verdict:
//! a person who looks at a verdict shall see that somebody tried.

mod finding;
mod fold;
mod hidden;
mod patterns;

#[cfg(test)]
pub(super) mod corpus;

pub(super) use finding::{add, found};
