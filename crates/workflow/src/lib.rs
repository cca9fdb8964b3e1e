//! Coding agents over datasets, as users of OpenHands know them: its events, its runtime, its agent, its
//! result files, on top of Agon's engine. The engine's record is the truth; everything here is made from
//! it and can be made again.

pub mod codeact;
pub mod config;
pub mod controller;
pub mod dialect;
pub mod eval;
pub mod evaluation;
pub mod events;
pub mod metrics;
pub mod results;
pub mod runtime;
pub mod state;

pub use codeact::CodeAct;
pub use config::{
    AppConfig, LlmConfig, RuntimeKind, SandboxConfig, get_llm_config_arg, get_llm_config_arg_of,
};
pub use controller::{Conversation, run_controller};
pub use eval::{
    EvalMetadata, EvalOutput, Instance, Selection, codeact_user_response,
    compatibility_for_eval_history_pairs, make_metadata, prepare_dataset,
};
pub use evaluation::{
    Benchmark, EvalError, RunOptions, get_metrics, run_benchmark, run_evaluation,
};
pub use events::{Action, CmdRunAction, Event, MessageAction, Observation};
pub use runtime::{Runtime, create_runtime};
pub use state::State;
