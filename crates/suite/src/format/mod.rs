//! Task files and `suite.toml` as they are written: every key they may have, nothing filled in.

mod check;
mod environment;
mod limits;
mod suite;
mod task;

pub(crate) use check::{CheckFile, CheckType, PatternFile, StreamFile};
pub(crate) use environment::{EnvironmentFile, ImageName};
pub(crate) use suite::SuiteFile;
pub(crate) use task::TaskFile;

/// JSON Schema of a task file, for editors.
pub fn task_schema() -> schemars::Schema {
    schemars::schema_for!(TaskFile)
}

/// JSON Schema of `suite.toml`, for editors.
pub fn suite_schema() -> schemars::Schema {
    schemars::schema_for!(SuiteFile)
}
