//! `agon bench`: benchmarks over datasets, with the flags and the result files of seed 003's system.

mod args;
mod command;
mod live;

pub(super) use args::BenchCommand;
pub(super) use command::bench;
