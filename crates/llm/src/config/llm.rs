//! `[llm]` and `[llm.NAME]`: every key, with its type and default.

use std::path::PathBuf;

use agon_core::Money;
use serde_json::{Map, Value};

use super::fields::section;
use super::raw::Amount;
use super::secret::Secret;

/// What `[llm]` means if it names no model.
pub(super) const DEFAULT_MODEL: &str = "claude-sonnet-4-20250514";

/// Keys that are tables and no named sections.
pub(super) const TABLES: &[&str] = &["completion_kwargs"];

section! {
    pub(super) LlmSection {
        model: Option<String> = None,
        api_key: Option<Secret> = None,
        base_url: Option<String> = None,
        api_version: Option<String> = None,
        aws_access_key_id: Option<Secret> = None,
        aws_secret_access_key: Option<Secret> = None,
        aws_region_name: Option<String> = None,
        openrouter_site_url: Option<String> = None,
        openrouter_app_name: Option<String> = None,
        num_retries: u32 = 5,
        retry_multiplier: Amount = Amount(8.0),
        retry_min_wait: Amount = Amount(8.0),
        retry_max_wait: Amount = Amount(64.0),
        timeout: Option<Amount> = None,
        max_message_chars: usize = 30_000,
        temperature: f64 = 0.0,
        top_p: Option<f64> = None,
        top_k: Option<u64> = None,
        seed: Option<i64> = None,
        custom_llm_provider: Option<String> = None,
        max_input_tokens: Option<u64> = None,
        max_output_tokens: Option<u64> = None,
        input_cost_per_token: Option<Money> = None,
        output_cost_per_token: Option<Money> = None,
        ollama_base_url: Option<String> = None,
        drop_params: bool = true,
        modify_params: bool = true,
        disable_vision: bool = false,
        disable_stop_word: bool = false,
        caching_prompt: bool = true,
        log_completions: bool = false,
        log_completions_folder: Option<PathBuf> = None,
        custom_tokenizer: Option<String> = None,
        native_tool_calling: Option<bool> = None,
        reasoning_effort: Option<String> = None,
        safety_settings: Option<Vec<Map<String, Value>>> = None,
        for_routing: bool = false,
        correct_num: u32 = 5,
        completion_kwargs: Map<String, Value> = Map::new(),
    }
}
