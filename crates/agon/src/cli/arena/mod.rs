//! `agon arena`: agents and evaluators as servers that play and judge in real time, and the clients
//! that bring them together.

mod agent;
mod args;
mod client;
mod command;
mod evaluator;
mod judge;
mod run;
mod show;
mod stand;
mod task_file;

pub(super) use args::ArenaCommand;
pub(super) use command::arena;
