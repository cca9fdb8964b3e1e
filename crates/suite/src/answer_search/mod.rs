//! Do an agent's own files hold the answers of the tasks that it is to play?

mod distinct;
mod needles;
mod rolling;
mod search;

pub use search::{AnswerMatch, AnswerSearch};

#[cfg(test)]
mod tests;
