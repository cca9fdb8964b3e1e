//! Names, and what they come to.

use agon_core::Money;
use serde_json::json;

use super::place::Place;
use crate::config::{Config, ConfigSource, Environment, KeyOrigin};
use crate::spec::{ModelSpec, Provider, Wire};

/// As it stands in the guide that people copy from.
const SEED: &str = r#"
[llm]
# 重要: ここにAPIキーを追加し、評価したいモデルを設定してください
model = "claude-3-5-sonnet-20241022"
api_key = "sk-XXX"

[llm.eval_gpt4_1106_preview_llm]
model = "gpt-4-1106-preview"
api_key = "XXX"
temperature = 0.0

[llm.eval_some_openai_compatible_model_llm]
model = "openai/MODEL_NAME"
base_url = "https://OPENAI_COMPATIBLE_URL/v1"
api_key = "XXX"
temperature = 0.0
"#;

#[test]
fn the_guides_file_works_as_it_is() {
    let config = Place::new(SEED).config();
    assert_eq!(config.warnings(), [""; 0]);
    assert_eq!(
        config.sections(),
        [
            "llm",
            "eval_gpt4_1106_preview_llm",
            "eval_some_openai_compatible_model_llm"
        ]
    );
    let base = config.model("llm").unwrap();
    assert_eq!(
        (base.provider, base.wire),
        (Provider::Anthropic, Wire::Messages)
    );
    assert_eq!(base.model, "claude-3-5-sonnet-20241022");
    for name in [
        "eval_gpt4_1106_preview_llm",
        "[llm.eval_gpt4_1106_preview_llm]",
    ] {
        let gpt = config.model(name).unwrap();
        assert_eq!((gpt.provider, gpt.wire), (Provider::OpenAi, Wire::Chat));
        assert_eq!(gpt.model, "gpt-4-1106-preview");
        assert_eq!(gpt.name, "eval_gpt4_1106_preview_llm");
        assert_eq!(gpt.settings.temperature, Some(0.0));
        assert_eq!(gpt.key, None);
        let why = gpt.settings.not_ready.unwrap();
        assert_eq!(
            why,
            "api_key of [llm.eval_gpt4_1106_preview_llm] is a placeholder: put your key there, or set \
             OPENAI_API_KEY"
        );
    }
    let other = config
        .model("llm.eval_some_openai_compatible_model_llm")
        .unwrap();
    assert_eq!(
        (other.provider, other.wire),
        (Provider::Compatible, Wire::Chat)
    );
    assert_eq!(other.model, "MODEL_NAME");
    assert_eq!(
        other.settings.not_ready.unwrap(),
        "model of [llm.eval_some_openai_compatible_model_llm] is a placeholder: put a model's name there"
    );
}

#[test]
fn a_variable_stands_in_for_a_placeholder() {
    let place = Place::new(SEED).set("OPENAI_API_KEY", "sk-of-the-environment");
    let config = place.config();
    let (gpt, origin) = config.model_and_key("eval_gpt4_1106_preview_llm").unwrap();
    assert_eq!(gpt.settings.not_ready, None);
    assert_eq!(gpt.key.unwrap().reveal(), "sk-of-the-environment");
    assert_eq!(origin, KeyOrigin::Variable("OPENAI_API_KEY".to_owned()));
}

fn bare(variables: &[(&str, &str)]) -> Config {
    let folder = tempfile::tempdir().unwrap();
    Config::load(&ConfigSource {
        file: None,
        folder: folder.path().to_owned(),
        environment: Environment::from_iter(variables.iter().copied()),
    })
    .unwrap()
}

fn key(spec: &ModelSpec) -> Option<&str> {
    spec.key.as_ref().map(|key| key.reveal())
}

#[test]
fn a_provider_and_a_model_need_no_file() {
    let config = bare(&[
        ("OPENAI_API_KEY", "sk-openai-1"),
        ("GOOGLE_API_KEY", "google-1"),
        ("OPENROUTER_API_KEY", "your-key"),
        ("LLM_API_KEY", "base-only-1"),
        ("LLM_TEMPERATURE", "0.7"),
    ]);
    let gpt = config.model("openai/gpt-4o").unwrap();
    assert_eq!(
        (&*gpt.name, &*gpt.model, key(&gpt)),
        ("openai/gpt-4o", "gpt-4o", Some("sk-openai-1"))
    );
    assert_eq!(
        gpt.settings.temperature,
        Some(0.0),
        "LLM_* are the base section's"
    );
    let gemini = config.model("gemini/gemini-2.5-pro").unwrap();
    assert_eq!(
        (gemini.wire, key(&gemini)),
        (Wire::Gemini, Some("google-1"))
    );
    let claude = config.model("anthropic/claude-sonnet-4-5").unwrap();
    assert_eq!(
        claude.settings.not_ready.as_deref(),
        Some("there is no key: set ANTHROPIC_API_KEY")
    );
    let router = config.model("openrouter/x/y").unwrap();
    assert_eq!(
        router.settings.not_ready.as_deref(),
        Some("OPENROUTER_API_KEY is a placeholder: put your key there")
    );
    for free in ["mock/echo", "local/smollm2", "ollama/llama3.2"] {
        let (spec, origin) = config.model_and_key(free).unwrap();
        assert_eq!(
            (spec.settings.not_ready, origin),
            (None, KeyOrigin::NotNeeded),
            "{free}"
        );
    }
}

#[test]
fn every_setting_arrives() {
    let config = Place::new(
        r#"
        [llm.all]
        model = "openrouter/a/b"
        api_key = "sk-or-v1-0123456789"
        openrouter_site_url = "https://site.test"
        openrouter_app_name = "Agon"
        num_retries = 0
        retry_multiplier = 2
        retry_min_wait = 0.5
        retry_max_wait = 9
        timeout = 90
        max_message_chars = 1000
        temperature = 1
        top_p = 0.5
        top_k = 40.0
        seed = -3
        max_input_tokens = 100
        max_output_tokens = 200
        input_cost_per_token = 0.00000015
        output_cost_per_token = 6e-7
        drop_params = false
        modify_params = false
        disable_vision = true
        disable_stop_word = true
        caching_prompt = false
        log_completions = true
        log_completions_folder = "logs"
        custom_tokenizer = "t"
        native_tool_calling = false
        reasoning_effort = "high"
        safety_settings = [{ category = "A", threshold = "B" }]
        for_routing = true
        correct_num = 2
        api_version = "v9"
        aws_region_name = "eu"
        completion_kwargs = { logprobs = true, extra_headers = { X-Team = "red" }, extra_body = { n = 1 } }
        "#,
    )
    .config();
    let settings = config.model("all").unwrap().settings;
    assert_eq!(settings.num_retries, 1, "the first request is one of them");
    assert_eq!(
        (settings.retry_multiplier, settings.retry_min_wait),
        (2.0, 0.5)
    );
    assert_eq!(
        (settings.retry_max_wait, settings.timeout),
        (9.0, Some(90.0))
    );
    assert_eq!(
        (settings.temperature, settings.top_p),
        (Some(1.0), Some(0.5))
    );
    assert_eq!((settings.top_k, settings.seed), (Some(40), Some(-3)));
    assert_eq!(
        (settings.max_input_tokens, settings.max_output_tokens),
        (Some(100), Some(200))
    );
    assert_eq!(
        settings.input_cost_per_token,
        Some(Money::from_picos(150_000))
    );
    assert_eq!(
        settings.output_cost_per_token,
        Some(Money::from_picos(600_000))
    );
    assert!(!settings.drop_params && !settings.modify_params && !settings.caching_prompt);
    assert!(settings.disable_vision && settings.disable_stop_word && settings.log_completions);
    assert_eq!(settings.native_tool_calling, Some(false));
    assert_eq!(settings.reasoning_effort.as_deref(), Some("high"));
    assert_eq!(
        settings.safety_settings,
        Some(json!([{"category": "A", "threshold": "B"}]))
    );
    let headers: Vec<_> = settings.headers.iter().map(|(n, v)| (&**n, &**v)).collect();
    assert_eq!(
        headers,
        [
            ("X-Team", "red"),
            ("HTTP-Referer", "https://site.test"),
            ("X-Title", "Agon")
        ]
    );
    assert_eq!(
        json!(settings.completion_kwargs),
        json!({"logprobs": true, "n": 1})
    );
}

#[test]
fn one_price_of_two_is_none() {
    let place = Place::new("[llm.half]\nmodel = 'mock/echo'\ninput_cost_per_token = 1e-6\n");
    let config = place.config();
    assert_eq!(
        config.model("half").unwrap().settings.input_cost_per_token,
        None
    );
    assert!(place.warnings()[0].starts_with("config.toml:3: [llm.half] gives one price of two"));
}

#[test]
fn a_section_wins_over_a_provider_of_the_same_name() {
    let config = Place::new("[llm.\"openai/gpt-4o\"]\nmodel = 'mock/echo'\n").config();
    assert_eq!(
        config.model("openai/gpt-4o").unwrap().provider,
        Provider::Mock
    );
    let config = Place::new("[llm.\"gpt-4.1\"]\nmodel = 'mock/echo'\n").config();
    for name in ["gpt-4.1", "llm.gpt-4.1", "[llm.\"gpt-4.1\"]"] {
        assert_eq!(config.model(name).unwrap().name, "gpt-4.1");
    }
}

#[test]
fn draft_editor_is_an_ordinary_name() {
    let config =
        Place::new("[llm]\nmodel = 'mock/echo'\n[llm.draft_editor]\ncorrect_num = 3\n").config();
    assert_eq!(config.model("draft_editor").unwrap().model, "echo");
}
