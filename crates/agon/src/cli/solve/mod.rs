//! `agon solve`: one agent, one task from the command line, no grade.

mod args;
mod command;
mod person;
mod show;

pub(super) use args::SolveArgs;
pub(super) use command::solve;
