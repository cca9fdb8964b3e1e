//! Suites on disk become tasks, and tasks become a frozen plan. Nothing here runs anything: no
//! async, no sandbox, no agent.

mod answer;
mod answer_search;
mod benchmark;
mod build;
mod error;
mod facts;
pub mod filter;
mod format;
mod harbor;
mod layout;
mod lint;
mod load;
mod patterns;
mod plan;
mod selection;
mod source;
mod tree;

pub use answer_search::{AnswerMatch, AnswerSearch};
pub use build::{BadSteps, MaxSteps};
pub use error::{SuiteError, SuiteErrors, TextError};
pub use facts::{Facts, SuiteFacts, TaskFacts, difference};
pub use filter::{Filter, FilterError};
pub use format::{benchmark_schema, suite_schema, task_schema};
pub use lint::{Finding, Severity, lint};
pub use load::{ImageBuild, LoadOptions, Suite, load_suite};
pub use plan::{AgentIdentity, Plan, PlanError, PlanOptions, PlannedTrial};
pub use selection::{Selection, SelectionError};
