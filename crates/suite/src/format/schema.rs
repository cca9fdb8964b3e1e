//! JSON Schemas of the files people write, for editors.

use super::{BenchmarkFile, SuiteFile, TaskFile};

/// JSON Schema of a task file.
pub fn task_schema() -> schemars::Schema {
    schemars::schema_for!(TaskFile)
}

/// JSON Schema of `suite.toml`.
pub fn suite_schema() -> schemars::Schema {
    schemars::schema_for!(SuiteFile)
}

/// JSON Schema of `benchmark.toml`.
pub fn benchmark_schema() -> schemars::Schema {
    schemars::schema_for!(BenchmarkFile)
}
