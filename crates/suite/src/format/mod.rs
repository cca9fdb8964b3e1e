//! Task files and `suite.toml` as they are written: every key they may have, nothing filled in.

mod check;
mod environment;
mod limits;
mod realtime;
mod schema;
mod sight;
mod suite;
mod task;
mod text;

pub(crate) use check::{CheckFile, CheckType, PatternFile, StreamFile};
pub(crate) use environment::{EnvironmentFile, ImageName};
pub(crate) use realtime::RealtimeFile;
pub use schema::{suite_schema, task_schema};
pub(crate) use sight::{NumberFile, ShownNumberFile};
pub(crate) use suite::SuiteFile;
pub(crate) use task::{PlayerFile, TaskFile};
