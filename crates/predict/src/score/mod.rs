//! Scores answers: predicted actions against the expected ones, and points against the box that they must
//! hit. Pure: the same answer, the same score.

mod action;
mod action_answer;
mod alignment;
mod hit_answer;
mod unit;

#[cfg(test)]
mod curve;
#[cfg(test)]
mod properties;

pub use action::{Compared, compare};
pub use action_answer::{ActionAnswer, ActionQuestion, MAX_EXPECTED, PASS, WrongExpectation};
pub use alignment::{Alignment, align};
pub use hit_answer::HitAnswer;
pub use unit::{PointUnit, UnknownUnit};
