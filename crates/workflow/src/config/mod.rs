//! What a program says about a run before it begins: agent, model, sandbox, limits.

mod app;
mod llm;

pub use app::{AppConfig, RuntimeKind, SandboxConfig};
pub use llm::{LlmConfig, get_llm_config_arg, get_llm_config_arg_of};
