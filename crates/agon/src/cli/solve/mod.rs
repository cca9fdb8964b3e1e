//! `agon solve`: one agent, one task from the command line, no grade.

mod args;
mod command;
mod person;
mod show;

pub(super) use args::{SolveArgs, budget, steps};
pub(super) use command::solve;
