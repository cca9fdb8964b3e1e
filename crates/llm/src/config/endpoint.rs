//! Which service a section's `model` and `base_url` mean: who answers, in which form, at which address.

use reqwest::Url;

use super::llm::{DEFAULT_MODEL, LlmSection};
use super::vendor::{self, Vendor};
use crate::spec::{Provider, Wire};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) provider: Provider,
    pub(super) wire: Wire,
    pub(super) model: String,
    pub(super) base_url: String,
    pub(super) api_version: Option<String>,
    /// Variables whose key may go there.
    pub(super) variables: &'static [&'static str],
}

impl Endpoint {
    /// The error says what to do.
    pub(super) fn of(section: &LlmSection) -> Result<Self, String> {
        let model = filled(section.model.as_ref()).unwrap_or(DEFAULT_MODEL);
        let base_url = filled(section.base_url.as_ref());
        let (vendor, model) = named(
            model,
            filled(section.custom_llm_provider.as_ref()),
            base_url,
        )?;
        let local = matches!(vendor.provider, Provider::Local | Provider::Mock);
        let ollama = vendor.prefixes.contains(&"ollama");
        let own = match base_url {
            Some(url) => Some(url),
            None if ollama => filled(section.ollama_base_url.as_ref()),
            None => None,
        };
        let (base_url, at_home) = match (own, vendor.url) {
            (_, home) if local => (home.unwrap_or_default().to_owned(), true),
            (Some(url), home) => {
                let url = address(url, vendor)?;
                let at_home = home.is_some_and(|home| host(home) == host(&url));
                (url, at_home)
            }
            (None, Some(home)) => (home.to_owned(), true),
            (None, None) => {
                let prefix = vendor.prefixes.first().copied().unwrap_or_default();
                return Err(format!("{prefix}/ needs a base_url"));
            }
        };
        let provider = match vendor.provider {
            Provider::OpenAi if !at_home => Provider::Compatible,
            provider => provider,
        };
        let own = filled(section.api_version.as_ref());
        let own = own.filter(|_| takes_version(vendor, provider, &base_url));
        let api_version = own.or(vendor.api_version).map(str::to_owned);
        let base_url = match vendor.api_version {
            // Azure has an address per deployment.
            Some(_) if path(&base_url) == "/" => format!("{base_url}/openai/deployments/{model}"),
            _ => base_url,
        };
        Ok(Self {
            provider,
            wire: vendor.wire,
            model: model.to_owned(),
            base_url,
            api_version,
            // A key that was meant for one host is never sent to another.
            variables: if at_home { vendor.variables } else { &[] },
        })
    }

    /// Whether the same service answers, so that one key may serve both.
    pub(super) fn same_service(&self, other: &Self) -> bool {
        host(&self.base_url) == host(&other.base_url)
    }

    /// Whether it answers nobody without a key.
    pub(super) fn needs_key(&self) -> bool {
        !self.variables.is_empty()
    }
}

/// Only these name a version in requests; it is inherited by all.
fn takes_version(vendor: &Vendor, provider: Provider, base_url: &str) -> bool {
    match provider {
        Provider::Anthropic => true,
        Provider::Compatible => vendor.api_version.is_some() || is_azure(base_url),
        Provider::OpenAi | Provider::Gemini | Provider::Local | Provider::Mock => false,
    }
}

/// By its host: one that is in a house of its own is named by `azure/`.
fn is_azure(url: &str) -> bool {
    let hosts = [".azure.com", ".azure.us", ".azure.cn", ".azure-api.net"];
    host(url).is_some_and(|(_, host, _)| hosts.iter().any(|end| host.ends_with(end)))
}

fn path(url: &str) -> String {
    Url::parse(url).map_or_else(|_| String::new(), |url| url.path().to_owned())
}

fn filled(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// The vendor, and the model as it calls it.
fn named<'a>(
    model: &'a str,
    custom: Option<&str>,
    base_url: Option<&str>,
) -> Result<(&'static Vendor, &'a str), String> {
    let compatible = vendor::by_prefix("openai").filter(|_| base_url.is_some());
    if let Some(custom) = custom {
        if let Some(why) = vendor::refused(custom) {
            return Err(why.to_owned());
        }
        let found = vendor::by_prefix(custom).or(compatible);
        let found = found.ok_or_else(|| {
            format!(
                "custom_llm_provider is unknown; give a base_url, or use one of: {}",
                vendor::FORMS
            )
        })?;
        let own = found
            .prefixes
            .iter()
            .find_map(|p| model.strip_prefix(p)?.strip_prefix('/'));
        return Ok((found, own.unwrap_or(model)));
    }
    if let Some((prefix, rest)) = model.split_once('/') {
        if let Some(why) = vendor::refused(prefix) {
            return Err(why.to_owned());
        }
        if let Some(vendor) = vendor::by_prefix(prefix) {
            return if rest.is_empty() {
                Err(format!("name a model after {prefix}/"))
            } else {
                Ok((vendor, rest))
            };
        }
    }
    // `Qwen/Qwen3-8B` is a name as vLLM knows it.
    vendor::by_bare_name(model)
        .or(compatible)
        .map(|vendor| (vendor, model))
        .ok_or_else(|| {
            format!(
                "nobody is known to serve it; give a base_url, or use one of: {}",
                vendor::FORMS
            )
        })
}

/// A `base_url` as the adapters need it. Errors do not quote it: it may hold a password.
fn address(text: &str, vendor: &Vendor) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("base_url is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("base_url must begin with https:// or http://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("base_url must hold no name or password; a key belongs in api_key".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(
            "base_url must end with its path, without ? or #; a key belongs in api_key".to_owned(),
        );
    }
    let text = url.as_str().trim_end_matches('/');
    let ends = ["/chat/completions", "/responses", "/messages"];
    let text = ends
        .iter()
        .find_map(|end| text.strip_suffix(end))
        .unwrap_or(text);
    Ok(match vendor.version {
        Some(version) if matches!(url.path(), "" | "/") => format!("{text}{version}"),
        _ => text.to_owned(),
    })
}

/// Scheme, host and port.
fn host(url: &str) -> Option<(String, String, Option<u16>)> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?.to_owned();
    Some((url.scheme().to_owned(), host, url.port_or_known_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str, base_url: Option<&str>) -> Result<Endpoint, String> {
        Endpoint::of(&LlmSection {
            model: Some(model.to_owned()),
            base_url: base_url.map(str::to_owned),
            ..LlmSection::default()
        })
    }

    #[track_caller]
    fn shown(model: &str, base_url: Option<&str>) -> String {
        let found = of(model, base_url).unwrap();
        let key = if found.needs_key() { " key" } else { "" };
        let Endpoint {
            provider,
            wire,
            model,
            base_url,
            ..
        } = found;
        format!("{provider:?} {wire:?} {model} {base_url}{key}")
    }

    #[test]
    fn names_mean_what_they_mean_elsewhere() {
        let openai = "https://api.openai.com/v1 key";
        for (model, meant) in [
            (
                "gpt-4-1106-preview",
                format!("OpenAi Chat gpt-4-1106-preview {openai}"),
            ),
            ("openai/gpt-4o", format!("OpenAi Chat gpt-4o {openai}")),
            ("o3-mini", format!("OpenAi Chat o3-mini {openai}")),
            (
                "openai-responses/gpt-5",
                format!("OpenAi Responses gpt-5 {openai}"),
            ),
            (
                "claude-3-5-sonnet-20241022",
                "Anthropic Messages claude-3-5-sonnet-20241022 https://api.anthropic.com/v1 key"
                    .to_owned(),
            ),
            (
                "google/gemini-2.5-pro",
                "Gemini Gemini gemini-2.5-pro https://generativelanguage.googleapis.com/v1beta key"
                    .to_owned(),
            ),
            (
                "openrouter/anthropic/claude-sonnet-4",
                "Compatible Chat anthropic/claude-sonnet-4 https://openrouter.ai/api/v1 key"
                    .to_owned(),
            ),
            (
                "ollama/llama3.2",
                "Compatible Chat llama3.2 http://localhost:11434/v1".to_owned(),
            ),
            (
                "local/smollm2",
                "Local Chat smollm2 http://localhost/v1".to_owned(),
            ),
            (
                "mock/script:a/b.json",
                "Mock Chat script:a/b.json ".to_owned(),
            ),
        ] {
            assert_eq!(shown(model, None), meant);
        }
    }

    #[test]
    fn a_base_url_makes_it_compatible_and_keeps_keys_at_home() {
        for (model, url, meant) in [
            (
                "openai/m",
                "https://x.test/v1/",
                "Compatible Chat m https://x.test/v1",
            ),
            (
                "gpt-4o",
                "http://10.0.0.1:8000/v1/chat/completions",
                "Compatible Chat gpt-4o http://10.0.0.1:8000/v1",
            ),
            (
                "Qwen/Qwen3-8B",
                "http://localhost:8000/v1",
                "Compatible Chat Qwen/Qwen3-8B http://localhost:8000/v1",
            ),
            (
                "openai/gpt-4o",
                "https://api.openai.com/v1",
                "OpenAi Chat gpt-4o https://api.openai.com/v1 key",
            ),
            (
                "openai-responses/m",
                "https://x.test/v1",
                "Compatible Responses m https://x.test/v1",
            ),
            (
                "claude-x",
                "https://proxy.test",
                "Anthropic Messages claude-x https://proxy.test/v1",
            ),
            (
                "claude-x",
                "https://proxy.test/anthropic/v1",
                "Anthropic Messages claude-x https://proxy.test/anthropic/v1",
            ),
            (
                "ollama/m",
                "http://box:11434",
                "Compatible Chat m http://box:11434/v1",
            ),
            (
                "litellm_proxy/m",
                "https://x.test",
                "Compatible Chat m https://x.test",
            ),
        ] {
            assert_eq!(shown(model, Some(url)), meant);
        }
    }

    #[test]
    fn what_can_not_be_asked_says_what_works() {
        for (model, url, phrase) in [
            ("azure/gpt-4o", None, "azure/ needs a base_url"),
            ("bedrock/anthropic.claude", None, "LiteLLM proxy"),
            ("vertex_ai/gemini-pro", None, "gemini/MODEL"),
            (
                "some-model",
                None,
                "give a base_url, or use one of: openai/MODEL",
            ),
            ("hosted_vllm/m", None, "needs a base_url"),
            ("openai/", None, "name a model after openai/"),
            (
                "openai/m",
                Some("https://me:hush@x.test/v1"),
                "no name or password",
            ),
            (
                "openai/m",
                Some("https://x.test/v1?key=hush"),
                "without ? or #",
            ),
            ("openai/m", Some("ftp://x.test"), "https:// or http://"),
            ("openai/m", Some("x.test/v1"), "no address"),
        ] {
            let why = of(model, url).unwrap_err();
            assert!(why.contains(phrase), "{model}: {why}");
            assert!(!why.contains("hush"), "{why}");
        }
    }

    #[test]
    fn azure_is_known_by_its_version() {
        let azure = |url: &str, version: Option<&str>| {
            let found = Endpoint::of(&LlmSection {
                model: Some("azure/mine".to_owned()),
                base_url: Some(url.to_owned()),
                api_version: version.map(str::to_owned),
                ..LlmSection::default()
            });
            let found = found.unwrap();
            (found.base_url, found.api_version.unwrap())
        };
        let deployment = "https://openai-r.openai.azure.com/openai/deployments/mine".to_owned();
        assert_eq!(
            azure("https://openai-r.openai.azure.com/", None),
            (deployment.clone(), "2024-12-01-preview".to_owned())
        );
        assert_eq!(
            azure(&deployment, Some("v9")),
            (deployment.clone(), "v9".to_owned())
        );
        for (model, base_url, version) in [
            ("gpt-4o", None, None),
            ("claude-x", None, Some("v9")),
            ("mock/echo", None, None),
            // A version that is inherited makes no Azure of a host that is called so.
            ("openai/x", Some("https://openai.example/v1"), None),
            ("openai/x", Some("https://azure.com.example/openai"), None),
            ("openai/x", Some("https://r.openai.azure.com"), Some("v9")),
            ("azure/x", Some("http://gate.house:8000"), Some("v9")),
        ] {
            let found = Endpoint::of(&LlmSection {
                model: Some(model.to_owned()),
                base_url: base_url.map(str::to_owned),
                api_version: Some("v9".to_owned()),
                ..LlmSection::default()
            });
            assert_eq!(found.unwrap().api_version.as_deref(), version, "{model}");
        }
    }

    #[test]
    fn ollama_and_custom_providers_are_honoured() {
        let section = |model: &str, custom: &str| LlmSection {
            model: Some(model.to_owned()),
            custom_llm_provider: Some(custom.to_owned()),
            ollama_base_url: Some("http://box:11434".to_owned()),
            ..LlmSection::default()
        };
        let found = Endpoint::of(&section("my-claude", "anthropic")).unwrap();
        assert_eq!(
            (found.provider, &*found.model),
            (Provider::Anthropic, "my-claude")
        );
        let found = Endpoint::of(&section("ollama/llama3", "ollama")).unwrap();
        assert_eq!(
            (&*found.base_url, &*found.model),
            ("http://box:11434/v1", "llama3")
        );
        assert!(Endpoint::of(&section("m", "nobody")).is_err());
    }
}
