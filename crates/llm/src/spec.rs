//! A model with everything that is needed to ask it: what a name on the command line or a section of
//! `config.toml` comes to. Made by `config`, used by the client.

use std::path::PathBuf;

use agon_core::Money;
use serde_json::{Map, Value};

use crate::key::Key;
use crate::wire;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    OpenAi,
    Anthropic,
    Gemini,
    /// Anything that speaks chat completions at a `base_url`: vLLM, Ollama, LiteLLM, OpenRouter.
    Compatible,
    /// Weights on this machine.
    Local,
    /// Answers without any service.
    Mock,
}

impl Provider {
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
            Self::Local => "local",
            Self::Mock => "mock",
        }
    }
}

/// The form of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI chat completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini generateContent.
    Gemini,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// As it was asked for: `eval_gpt4`, `openai/gpt-4o`.
    pub name: String,
    pub provider: Provider,
    pub wire: Wire,
    /// As the provider knows it; for `local` the path, for `mock` what follows the slash.
    pub model: String,
    /// Up to and including the version, without a slash at its end: `https://api.openai.com/v1`.
    pub base_url: String,
    pub key: Option<Key>,
    pub settings: Settings,
}

impl ModelSpec {
    /// Whether it is shown pictures. One that is not is told in words that there was one.
    pub fn sees(&self) -> bool {
        wire::known(self).vision
    }
}

/// What `[llm]` can say about a model. `None`: the provider's own default.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub top_k: Option<u64>,
    pub seed: Option<i64>,
    pub max_input_tokens: Option<u64>,
    pub max_output_tokens: Option<u64>,
    pub max_message_chars: usize,
    /// Requests in all, the first included.
    pub num_retries: u32,
    pub retry_multiplier: f64,
    pub retry_min_wait: f64,
    pub retry_max_wait: f64,
    /// Seconds for one call with all its tries.
    pub timeout: Option<f64>,
    pub input_cost_per_token: Option<Money>,
    pub output_cost_per_token: Option<Money>,
    /// Leave out what the model says it does not know, instead of failing.
    pub drop_params: bool,
    pub modify_params: bool,
    pub disable_vision: bool,
    pub disable_stop_word: bool,
    pub caching_prompt: bool,
    pub log_completions: bool,
    pub log_completions_folder: Option<PathBuf>,
    /// `None`: by what is known of the model.
    pub native_tool_calling: Option<bool>,
    pub reasoning_effort: Option<String>,
    pub safety_settings: Option<Value>,
    /// Extra headers, such as OpenRouter's; never a key.
    pub headers: Vec<(String, String)>,
    pub api_version: Option<String>,
    /// Merged last into the body.
    pub completion_kwargs: Map<String, Value>,
    /// Why no service can be asked with this: a key that is missing, a placeholder that was never
    /// filled in. A tape answers all the same.
    pub not_ready: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            temperature: Some(0.0),
            top_p: None,
            top_k: None,
            seed: None,
            max_input_tokens: None,
            max_output_tokens: None,
            max_message_chars: 30_000,
            num_retries: 5,
            retry_multiplier: 8.0,
            retry_min_wait: 8.0,
            retry_max_wait: 64.0,
            timeout: None,
            input_cost_per_token: None,
            output_cost_per_token: None,
            drop_params: true,
            modify_params: true,
            disable_vision: false,
            disable_stop_word: false,
            caching_prompt: true,
            log_completions: false,
            log_completions_folder: None,
            native_tool_calling: None,
            reasoning_effort: None,
            safety_settings: None,
            headers: Vec::new(),
            api_version: None,
            completion_kwargs: Map::new(),
            not_ready: None,
        }
    }
}
