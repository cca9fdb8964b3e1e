//! Who answers to which name: the prefixes of models, their addresses, and the variables that hold their
//! keys. A new provider that speaks a known form is one line here.

use crate::spec::{Provider, Wire};

pub(super) struct Vendor {
    /// What stands before the slash.
    pub(super) prefixes: &'static [&'static str],
    pub(super) provider: Provider,
    pub(super) wire: Wire,
    /// With the version at its end. `None`: `base_url` must say it.
    pub(super) url: Option<&'static str>,
    /// What every address of this form ends with, added where a `base_url` stops at the host.
    pub(super) version: Option<&'static str>,
    /// Variables that hold its key, the first that is set wins. Keys go to `url`'s host only.
    pub(super) variables: &'static [&'static str],
    /// The version of its interface, where requests must name one.
    pub(super) api_version: Option<&'static str>,
    /// Names without a prefix that can only mean this one.
    pub(super) bare: &'static [&'static str],
}

const fn compatible(
    prefixes: &'static [&'static str],
    url: Option<&'static str>,
    variables: &'static [&'static str],
) -> Vendor {
    Vendor {
        prefixes,
        provider: Provider::Compatible,
        wire: Wire::Chat,
        url,
        version: None,
        variables,
        api_version: None,
        bare: &[],
    }
}

pub(super) static VENDORS: &[Vendor] = &[
    Vendor {
        prefixes: &["openai"],
        provider: Provider::OpenAi,
        wire: Wire::Chat,
        url: Some("https://api.openai.com/v1"),
        version: None,
        variables: &["OPENAI_API_KEY"],
        api_version: None,
        bare: &[
            "gpt-",
            "chatgpt-",
            "o1",
            "o3",
            "o4",
            "codex-",
            "computer-use-",
        ],
    },
    Vendor {
        prefixes: &["openai-responses"],
        provider: Provider::OpenAi,
        wire: Wire::Responses,
        url: Some("https://api.openai.com/v1"),
        version: None,
        variables: &["OPENAI_API_KEY"],
        api_version: None,
        bare: &[],
    },
    Vendor {
        prefixes: &["anthropic"],
        provider: Provider::Anthropic,
        wire: Wire::Messages,
        url: Some("https://api.anthropic.com/v1"),
        version: Some("/v1"),
        variables: &["ANTHROPIC_API_KEY"],
        api_version: None,
        bare: &["claude-"],
    },
    Vendor {
        prefixes: &["gemini", "google"],
        provider: Provider::Gemini,
        wire: Wire::Gemini,
        url: Some("https://generativelanguage.googleapis.com/v1beta"),
        version: Some("/v1beta"),
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        api_version: None,
        bare: &["gemini-"],
    },
    compatible(
        &["openrouter"],
        Some("https://openrouter.ai/api/v1"),
        &["OPENROUTER_API_KEY"],
    ),
    compatible(
        &["deepseek"],
        Some("https://api.deepseek.com/v1"),
        &["DEEPSEEK_API_KEY"],
    ),
    compatible(
        &["groq"],
        Some("https://api.groq.com/openai/v1"),
        &["GROQ_API_KEY"],
    ),
    compatible(
        &["mistral"],
        Some("https://api.mistral.ai/v1"),
        &["MISTRAL_API_KEY"],
    ),
    compatible(&["xai"], Some("https://api.x.ai/v1"), &["XAI_API_KEY"]),
    Vendor {
        version: Some("/v1"),
        ..compatible(
            &["ollama", "ollama_chat"],
            Some("http://localhost:11434/v1"),
            &[],
        )
    },
    compatible(
        &["litellm_proxy", "hosted_vllm", "vllm", "lm_studio"],
        None,
        &[],
    ),
    Vendor {
        api_version: Some("2024-12-01-preview"),
        ..compatible(&["azure"], None, &[])
    },
    Vendor {
        provider: Provider::Local,
        // The host is of no matter: it is asked through a socket.
        ..compatible(&["local"], Some("http://localhost/v1"), &[])
    },
    Vendor {
        provider: Provider::Mock,
        ..compatible(&["mock"], Some(""), &[])
    },
];

/// Providers that others know and we do not, and what works instead.
pub(super) static REFUSED: &[(&[&str], &str)] = &[
    (
        &["bedrock", "bedrock_converse", "sagemaker"],
        "models on AWS are not asked directly; use anthropic/MODEL with an Anthropic key, or a LiteLLM \
         proxy in front of AWS: model = \"openai/MODEL\" with its base_url",
    ),
    (
        &["vertex_ai", "vertex_ai_beta"],
        "Vertex AI is not asked directly; use gemini/MODEL with a Gemini key, or a LiteLLM proxy: model = \
         \"openai/MODEL\" with its base_url",
    ),
];

/// Names of models that need no section.
pub const FORMS: &str = "openai/MODEL, openai-responses/MODEL, anthropic/MODEL, gemini/MODEL, \
     openrouter/MODEL, deepseek/MODEL, groq/MODEL, mistral/MODEL, xai/MODEL, ollama/MODEL, \
     local/PATH.gguf, local/smollm2, mock/echo, mock/text:WORDS, mock/script:FILE, mock/turns:FILE, mock/expected, \
     mock/wrong";

/// The same for `[llm]`.
const OWN_KEYS: [&str; 3] = [
    "LLM_API_KEY",
    "LLM_AWS_ACCESS_KEY_ID",
    "LLM_AWS_SECRET_ACCESS_KEY",
];

/// The variables in which keys of services are looked for.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    let vendors = VENDORS.iter().flat_map(|vendor| vendor.variables);
    vendors.copied().chain(OWN_KEYS)
}

pub(super) fn by_prefix(prefix: &str) -> Option<&'static Vendor> {
    VENDORS
        .iter()
        .find(|vendor| vendor.prefixes.contains(&prefix))
}

/// `gpt-4o` is OpenAI's, `claude-..` Anthropic's.
pub(super) fn by_bare_name(model: &str) -> Option<&'static Vendor> {
    let begins = |vendor: &&Vendor| vendor.bare.iter().any(|bare| model.starts_with(bare));
    VENDORS.iter().find(begins)
}

pub(super) fn refused(prefix: &str) -> Option<&'static str> {
    REFUSED
        .iter()
        .find(|(prefixes, _)| prefixes.contains(&prefix))
        .map(|(_, why)| *why)
}
