//! From what a file says to a task that can be played: defaults filled in, contradictions refused,
//! dates frozen, a digest taken.

mod action;
mod answer;
mod check;
mod digest;
mod environment;
mod hand_in;
mod history;
mod months;
mod office;
mod programs;
mod realtime;
mod sight;
mod solution;
mod steps;
mod task;
mod user;

pub(crate) use months::expand;
pub use steps::{BadSteps, MaxSteps};
pub(crate) use task::{Draft, task};
