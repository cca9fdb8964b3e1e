//! The keys that the body of a request may have, form by form. The body is passed on as it came, and routers
//! and proxies take keys that name another model, another service or another price, or that switch on
//! something out of anybody's sight: so only what is known to do none of that passes.

use serde_json::Value;

use super::said::{cut, says_nothing};
use crate::wire::Spoken;

const CHAT: &[&str] = &[
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "include_reasoning",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "min_p",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "reasoning_effort",
    "reasoning_format",
    "repetition_penalty",
    "response_format",
    "safety_identifier",
    "seed",
    "stop",
    "store",
    "stream",
    "stream_options",
    "structured_outputs",
    "temperature",
    "thinking",
    "thinking_budget",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
];

const RESPONSES: &[&str] = &[
    // The reader of bodies says what to do instead.
    "background",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

const MESSAGES: &[&str] = &[
    "cache_control",
    "context_management",
    "max_tokens",
    "messages",
    "model",
    "output_config",
    "output_format",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// Notes for the client's own books. They change no answer, and proxies read orders in them.
const NOTES: [&str; 2] = ["metadata", "client_metadata"];

/// Switches for something that the provider does by itself: for whoever has a network anyway.
const BEYOND: [&str; 5] = [
    "container",
    "mcp_servers",
    "plugins",
    "search_parameters",
    "web_search_options",
];

/// They choose what a call costs.
const TIERS: [&str; 3] = ["inference_geo", "service_tier", "speed"];

/// Values of these that ask for what is done anyway.
const USUAL_TIERS: [&str; 4] = ["auto", "default", "standard", "standard_only"];

/// Answers that cost more than what is said in words.
const MODALITIES: &str = "modalities";

/// Takes out of the body what means nothing here; the error names the first key that can't be passed on.
/// `confined`: whoever asks has no network.
pub(super) fn keep_known(wire: Spoken, body: &mut Value, confined: bool) -> Result<(), String> {
    let Some(body) = body.as_object_mut() else {
        return Ok(());
    };
    let known = match wire {
        Spoken::Chat => CHAT,
        Spoken::Responses => RESPONSES,
        Spoken::Messages => MESSAGES,
    };
    let mut refused = None;
    body.retain(|key, value| {
        let key = key.as_str();
        if known.contains(&key) || (!confined && BEYOND.contains(&key)) {
            return true;
        }
        let refusal = refusal(key, value);
        refused = refused.take().or(refusal);
        false
    });
    refused.map_or(Ok(()), Err)
}

/// `None`: it can be left out without a word.
fn refusal(key: &str, value: &Value) -> Option<String> {
    if says_nothing(value) || NOTES.contains(&key) {
        return None;
    }
    if TIERS.contains(&key) {
        let usual = |tier: &str| USUAL_TIERS.contains(&tier);
        return (!value.as_str().is_some_and(usual)).then(|| {
            format!("`{key}` can't be chosen here: calls are paid at the provider's usual price")
        });
    }
    if key == MODALITIES {
        let text = Value::from(vec!["text"]);
        return (*value != text).then(|| format!("`{key}` can only be [\"text\"] here"));
    }
    Some(match BEYOND.contains(&key) {
        true => format!("`{key}` can't be set here: this agent has no network"),
        false => format!("`{}` is not taken here: leave it out", cut(key)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FORMS: [Spoken; 3] = Spoken::ALL;

    #[test]
    fn what_the_vendors_clients_send_passes_as_it_is() {
        let chat = json!({"model": "m", "messages": [], "temperature": 0, "top_p": 1, "n": 1, "stop": ["x"],
            "max_tokens": 9, "max_completion_tokens": 9, "tools": [], "tool_choice": "auto",
            "parallel_tool_calls": false, "response_format": {"type": "text"}, "seed": 7, "logprobs": true,
            "top_logprobs": 2, "presence_penalty": 0, "frequency_penalty": 0, "stream": true,
            "stream_options": {"include_usage": true}, "user": "u", "store": false,
            "reasoning_effort": "low", "verbosity": "low", "prediction": {"type": "content", "content": "x"},
            "logit_bias": {"50256": -100}, "thinking": {"type": "enabled", "budget_tokens": 1024}});
        let responses = json!({"model": "m", "input": "x", "instructions": "y", "temperature": 0, "top_p": 1,
            "max_output_tokens": 9, "tools": [], "tool_choice": "auto", "parallel_tool_calls": true,
            "text": {"format": {"type": "text"}}, "reasoning": {"effort": "low"}, "store": false,
            "include": ["reasoning.encrypted_content"], "stream": true, "truncation": "auto",
            "prompt_cache_key": "k", "max_tool_calls": 3, "top_logprobs": 1, "user": "u"});
        let messages = json!({"model": "m", "messages": [], "max_tokens": 9, "system": "s", "temperature": 1,
            "top_p": 1, "top_k": 1, "stop_sequences": ["x"], "stream": true, "tools": [],
            "tool_choice": {"type": "auto"}, "thinking": {"type": "disabled"},
            "output_config": {"effort": "low"}, "context_management": {"edits": []},
            "cache_control": {"type": "ephemeral"}});
        for (wire, body) in FORMS.into_iter().zip([chat, responses, messages]) {
            let mut kept = body.clone();
            assert_eq!(keep_known(wire, &mut kept, true), Ok(()), "{wire:?}");
            assert_eq!(kept, body);
        }
    }

    #[test]
    fn another_model_service_or_price_can_t_be_had() {
        for (key, value) in [
            ("models", json!(["big"])),
            ("fallbacks", json!([{"model": "big"}])),
            ("route", json!("fallback")),
            ("api_base", json!("http://x")),
            ("extra_body", json!({"model": "big"})),
            ("extra_headers", json!({"x": "y"})),
            ("provider", json!({"order": ["x"]})),
            ("mock_response", json!("")),
            ("mock_testing_fallbacks", json!(true)),
            ("n_best", json!(7)),
            ("service_tier", json!("priority")),
            ("service_tier", json!({"auto": 1})),
            ("inference_geo", json!("us")),
            ("speed", json!("fast")),
            ("modalities", json!(["text", "audio"])),
            ("functions", json!([{"name": "f"}])),
        ] {
            for (wire, confined) in FORMS.into_iter().zip([true, false, true]) {
                let mut body = json!({"model": "m"});
                body[key] = value.clone();
                let refused = keep_known(wire, &mut body, confined).unwrap_err();
                assert!(refused.contains(&format!("`{key}`")), "{refused}");
            }
        }
        let long = "k".repeat(1 << 20);
        let refused = keep_known(Spoken::Chat, &mut json!({long: 1}), true).unwrap_err();
        assert!(refused.len() < 400, "{}", refused.len());
    }

    #[test]
    fn only_whoever_has_a_network_has_the_providers() {
        for key in BEYOND {
            let mut body = json!({key: {"x": 1}});
            let refused = keep_known(Spoken::Chat, &mut body.clone(), true).unwrap_err();
            assert!(refused.contains("no network"), "{refused}");
            assert_eq!(keep_known(Spoken::Chat, &mut body, false), Ok(()));
            assert!(body.get(key).is_some());
        }
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        let mut body = json!({"model": "m", "metadata": {"tags": ["x"]}, "service_tier": "auto",
            "modalities": ["text"], "plugins": [], "models": null, "container": null, "extra_body": {},
            "mock_testing_fallbacks": false});
        assert_eq!(keep_known(Spoken::Chat, &mut body, true), Ok(()));
        assert_eq!(body, json!({"model": "m"}));
    }
}
