//! `[agent]` and `[agent.NAME]`: what an agent may use, for those who know it from there.

use serde_json::{Map, Value};

use super::condenser::Condenser;
use super::fields::section;

/// Keys that are tables and no named sections.
pub(super) const TABLES: &[&str] = &["condenser", "model_routing", "extended"];

section! {
    /// Every key of `[agent]` with its default.
    pub AgentSection {
        /// The name of a model's section.
        llm_config: Option<String> = None,
        classpath: Option<String> = None,
        system_prompt_filename: String = "system_prompt.j2".to_owned(),
        enable_browsing: bool = true,
        enable_editor: bool = true,
        enable_jupyter: bool = true,
        enable_cmd: bool = true,
        enable_think: bool = true,
        enable_finish: bool = true,
        enable_prompt_extensions: bool = true,
        enable_mcp: bool = true,
        enable_history_truncation: bool = true,
        enable_som_visual_browsing: bool = true,
        enable_plan_mode: bool = true,
        enable_stuck_detection: bool = true,
        cli_mode: bool = false,
        enable_llm_editor: bool = false,
        enable_condensation_request: bool = false,
        disabled_microagents: Vec<String> = Vec::new(),
        condenser: Condenser = Condenser::ConversationWindow,
        model_routing: Option<Map<String, Value>> = None,
        extended: Option<Map<String, Value>> = None,
        runtime: Option<String> = None,
    }
}
