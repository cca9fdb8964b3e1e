//! Judges on the command line: which one is asked, and how far it can be trusted.

mod args;
mod calibrate;
mod open;
mod show;
mod weight;

pub(super) use args::{JudgeArgs, JudgeCommand};
pub(super) use calibrate::judge;
pub(super) use open::Player;
