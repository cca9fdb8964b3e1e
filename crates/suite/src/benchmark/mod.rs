//! Benchmark folders: `benchmark.toml`, a dataset and templates become tasks, one for each row. Each row
//! is written out as the keys of a task and then read like one, so that a task means the same wherever
//! it comes from.

mod dataset;
mod folder;
mod instance;
mod load;
mod naming;
mod parts;
mod sources;
mod template;

pub(crate) use folder::FILE;
pub(crate) use load::load;
