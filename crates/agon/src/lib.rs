//! Agon evaluates autonomous agents. This crate is the façade of the library and holds the command
//! line; the work is done by the crates behind it.

pub use agon_agent as agent;
pub use agon_arena as arena;
pub use agon_core as core;
pub use agon_desktop as desktop;
pub use agon_engine as engine;
pub use agon_grade as grade;
pub use agon_llm as llm;
pub use agon_office as office;
pub use agon_predict as predict;
pub use agon_report as report;
pub use agon_sandbox as sandbox;
pub use agon_stats as stats;
pub use agon_store as store;
pub use agon_suite as suite;
pub use agon_testcase as testcase;
pub use agon_vision as vision;
pub use agon_workflow as workflow;

pub mod cli;
pub mod prelude;
