//! Task files, `suite.toml` and `benchmark.toml` as they are written: every key they may have, nothing filled in.

mod benchmark;
mod check;
mod environment;
mod hand_in;
mod limits;
mod office;
mod realtime;
mod schema;
mod sight;
mod suite;
mod task;
mod text;
mod user;

pub(crate) use benchmark::BenchmarkFile;
pub(crate) use check::{CheckFile, CheckType, PatternFile, StreamFile};
pub(crate) use environment::{EnvironmentFile, ImageName};
pub(crate) use hand_in::HandInFile;
pub(crate) use office::{CellFile, FormulaFile, PassageFile, StyleFile, TableFile};
pub(crate) use realtime::RealtimeFile;
pub use schema::{benchmark_schema, suite_schema, task_schema};
pub(crate) use sight::{NumberFile, ShownNumberFile};
pub(crate) use suite::SuiteFile;
pub(crate) use task::{PlayerFile, TaskFile};
pub(crate) use user::{RuleFile, UserFile, UserKind};
