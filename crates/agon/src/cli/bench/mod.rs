//! `agon bench`: benchmarks over datasets, with the flags and the result files of OpenHands.

mod args;
mod command;
mod live;

pub(super) use args::BenchCommand;
pub(super) use command::bench;
