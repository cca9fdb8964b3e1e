//! A language model that decides about prose. Everything that it is shown of a trial is quoted as data;
//! what it says is read by a strict schema, reasoning first.

mod answer;
mod exhibit;
mod frames;
mod judging;
mod prompt;
mod question;
mod quote;
mod sitting;
mod steps;
mod suspicion;

#[cfg(test)]
mod tests;

pub use judging::{Judge, JudgeOptions};
pub use question::{Question, Shown};
