//! A model as `llm_config` in `metadata.json` shows it: every key of the original's section, never a key
//! to a service.

use agon_llm::{ModelSpec, Provider};
use serde_json::{Map, Value, json};

use crate::metrics::dollars;

/// Where the original logs calls unless told otherwise.
const COMPLETIONS: &str = "logs/completions";

/// As the original's sections name it: whoever speaks OpenAI's form elsewhere is `openai/` there.
pub(crate) fn model_name(spec: &ModelSpec) -> String {
    model_name_of(spec.provider.name(), &spec.model)
}

/// The same by the provider's name; one that is not known has none of its own.
pub(crate) fn model_name_of(provider: &str, model: &str) -> String {
    let is = |known: Provider| provider == known.name();
    if is(Provider::Compatible) {
        return format!("{}/{model}", Provider::OpenAi.name());
    }
    let prefixed = [Provider::Gemini, Provider::Local, Provider::Mock];
    match prefixed.into_iter().any(is) {
        true => format!("{provider}/{model}"),
        false => model.to_owned(),
    }
}

pub fn llm_config_json(spec: &ModelSpec) -> Map<String, Value> {
    let said = &spec.settings;
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let shown = json!({
        "model": model_name(spec),
        "api_key": spec.key.as_ref().map(|_| "**********"),
        "base_url": text(&spec.base_url),
        "api_version": said.api_version,
        "num_retries": said.num_retries,
        "retry_multiplier": said.retry_multiplier,
        "retry_min_wait": whole(said.retry_min_wait),
        "retry_max_wait": whole(said.retry_max_wait),
        "timeout": said.timeout.map(whole),
        "max_message_chars": said.max_message_chars,
        // Numbers and texts that the original has no null for.
        "temperature": said.temperature.unwrap_or(0.0),
        "top_p": said.top_p.unwrap_or(1.0),
        "top_k": said.top_k,
        "seed": said.seed,
        "custom_llm_provider": Value::Null,
        "max_input_tokens": said.max_input_tokens,
        "max_output_tokens": said.max_output_tokens,
        "input_cost_per_token": said.input_cost_per_token.map(dollars),
        "output_cost_per_token": said.output_cost_per_token.map(dollars),
        "drop_params": said.drop_params,
        "modify_params": said.modify_params,
        "disable_vision": said.disable_vision,
        "disable_stop_word": said.disable_stop_word,
        "caching_prompt": said.caching_prompt,
        "log_completions": said.log_completions,
        "log_completions_folder": said.log_completions_folder.clone().unwrap_or_else(|| COMPLETIONS.into()),
        "native_tool_calling": said.native_tool_calling,
        "reasoning_effort": said.reasoning_effort,
        "safety_settings": said.safety_settings,
        "completion_kwargs": said.completion_kwargs,
    });
    match shown {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Seconds as the original has them: whole ones.
fn whole(seconds: f64) -> u64 {
    seconds.ceil() as u64
}
