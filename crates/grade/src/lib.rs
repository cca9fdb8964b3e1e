//! Carries out checks over frozen evidence and says the verdict. Knows how to look, never how the
//! agent was played: everything here happens after the agent was cut off. Decisions are pure
//! functions over what was found; only [`grade`] and [`Place`] touch sandboxes.

mod combine;
mod command;
mod desk;
mod earlier;
mod evidence;
mod file;
mod finding;
mod flow;
mod grader;
mod interpreter;
mod json;
mod judge;
mod number;
mod office;
mod place;
mod printed;
mod reason;
mod record;
mod returned;
mod reward;
mod screens;
mod script;
mod side;
pub mod sight;
mod text;

#[cfg(test)]
mod canned;
#[cfg(test)]
mod examples;

pub use desk::{Bench, Desk, Told};
pub use evidence::{Evidence, SightEvidence};
pub use flow::{FlowStep, PictureSource};
pub use grader::grade;
pub use judge::{Judge, JudgeOptions, Question, Shown};
pub use place::Place;
pub use script::careful_python;

/// Version of the checkers: part of every resume key, raised whenever a verdict could change.
pub const CHECKERS: &str = "5";
