//! A section into a model that can be asked: its service, its key, its settings.

use serde_json::{Map, Value};

use super::endpoint::Endpoint;
use super::environment::Environment;
use super::llm::LlmSection;
use super::secret::Secret;
use crate::key::Key;
use crate::spec::{ModelSpec, Provider, Settings};

/// Where the key of a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// The service takes none, or nobody knows whether it does.
    NotNeeded,
    Missing,
    /// An example such as `sk-XXX`, which is not sent.
    Placeholder,
    /// The section that holds it.
    Section(String),
    Variable(String),
}

/// A section and what it takes from the base section.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    /// Without brackets; `None` for `openai/gpt-4o` and the like.
    pub(super) section: Option<String>,
    pub(super) fields: LlmSection,
    pub(super) key: KeyAt,
}

/// Where `api_key` was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyAt {
    Nowhere,
    /// Here, or in `[llm]` itself.
    Here,
    Variable(String),
    /// In `[llm]`, which means this service; `None`: whatever its sections mean.
    Inherited(Option<Box<Endpoint>>),
}

impl Ready {
    /// The error says what to do, without the name.
    pub(super) fn spec(
        &self,
        name: &str,
        variables: &Environment,
    ) -> Result<(ModelSpec, KeyOrigin), String> {
        let endpoint = Endpoint::of(&self.fields)?;
        let (key, origin) = self.key(&endpoint, variables);
        let mut settings = settings(&self.fields)?;
        settings.api_version.clone_from(&endpoint.api_version);
        settings.not_ready = self.not_ready(&endpoint, &origin, variables);
        let spec = ModelSpec {
            name: name.to_owned(),
            provider: endpoint.provider,
            wire: endpoint.wire,
            model: endpoint.model,
            base_url: endpoint.base_url,
            key,
            settings,
        };
        Ok((spec, origin))
    }

    fn key(&self, endpoint: &Endpoint, variables: &Environment) -> (Option<Key>, KeyOrigin) {
        if matches!(endpoint.provider, Provider::Local | Provider::Mock) {
            return (None, KeyOrigin::NotNeeded);
        }
        let ours = match &self.key {
            KeyAt::Nowhere => None,
            KeyAt::Here => self.section.clone().map(KeyOrigin::Section),
            KeyAt::Variable(name) => Some(KeyOrigin::Variable(name.clone())),
            // One provider's key is not sent to another.
            KeyAt::Inherited(Some(base)) if !base.same_service(endpoint) => None,
            KeyAt::Inherited(_) => Some(KeyOrigin::Section("llm".to_owned())),
        };
        let ours = ours.and_then(|origin| Some((self.fields.api_key.as_ref()?, origin)));
        let own = match &ours {
            Some((Secret::Key(key), origin)) => Some((key.clone(), origin.clone())),
            _ => None,
        };
        let vendors = endpoint.variables.iter().find_map(|name| {
            match variables.get(name).and_then(Secret::read)? {
                Secret::Key(key) => Some((key, KeyOrigin::Variable((*name).to_owned()))),
                _ => None,
            }
        });
        // The environment goes before the file; what is said of `[llm]` there, before what is said of all
        // models of a service.
        let (first, second) = match self.key {
            KeyAt::Variable(_) => (own, vendors),
            _ => (vendors, own),
        };
        if let Some((key, origin)) = first.or(second) {
            return (Some(key), origin);
        }
        let origin = match ours {
            Some(_) => KeyOrigin::Placeholder,
            None if endpoint.needs_key() => KeyOrigin::Missing,
            None => KeyOrigin::NotNeeded,
        };
        (None, origin)
    }

    fn not_ready(
        &self,
        endpoint: &Endpoint,
        origin: &KeyOrigin,
        variables: &Environment,
    ) -> Option<String> {
        let section = self.section.as_deref();
        let place = section.map_or_else(String::new, |section| format!(" of [{section}]"));
        if is_capitals(&endpoint.model) {
            return Some(format!(
                "model{place} is a placeholder: put a model's name there"
            ));
        }
        if url_is_capitals(self.fields.base_url.as_deref()) {
            return Some(format!(
                "base_url{place} is a placeholder: put the service's address there"
            ));
        }
        let set = match endpoint.variables {
            [] => String::new(),
            names => format!(" set {}", names.join(" or ")),
        };
        let put = section.map_or_else(String::new, |section| {
            format!(" put api_key into [{section}]")
        });
        let or = if set.is_empty() || put.is_empty() {
            ""
        } else {
            ", or"
        };
        match origin {
            KeyOrigin::Placeholder => {
                let or = if set.is_empty() { "" } else { ", or" };
                Some(format!(
                    "api_key{place} is a placeholder: put your key there{or}{set}"
                ))
            }
            KeyOrigin::Missing => {
                let example = endpoint.variables.iter().find(|name| {
                    let value = variables.get(name).and_then(Secret::read);
                    matches!(value, Some(Secret::Placeholder))
                });
                if let Some(name) = example {
                    return Some(format!("{name} is a placeholder: put your key there"));
                }
                let other = matches!(self.key, KeyAt::Inherited(Some(_)));
                let why = if other {
                    " (the one of [llm] is for another service)"
                } else {
                    ""
                };
                Some(format!("there is no key{why}:{put}{or}{set}"))
            }
            KeyOrigin::NotNeeded | KeyOrigin::Section(_) | KeyOrigin::Variable(_) => None,
        }
    }
}

/// `MODEL_NAME`, as examples write it.
fn is_capitals(text: &str) -> bool {
    text.contains('_') && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// `https://OPENAI_COMPATIBLE_URL/v1`
fn url_is_capitals(url: Option<&str>) -> bool {
    let host = url.and_then(|url| url.split_once("://")?.1.split('/').next());
    host.is_some_and(is_capitals)
}

fn settings(fields: &LlmSection) -> Result<Settings, String> {
    let (mut headers, kwargs) = kwargs(&fields.completion_kwargs)?;
    let named = [
        ("HTTP-Referer", &fields.openrouter_site_url),
        ("X-Title", &fields.openrouter_app_name),
    ];
    for (header, value) in named {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            headers.push((header.to_owned(), value.to_owned()));
        }
    }
    // One price alone would be a wrong price.
    let both = fields
        .input_cost_per_token
        .zip(fields.output_cost_per_token);
    let safety = fields.safety_settings.clone();
    Ok(Settings {
        temperature: Some(fields.temperature),
        top_p: fields.top_p,
        top_k: fields.top_k,
        seed: fields.seed,
        max_input_tokens: fields.max_input_tokens,
        max_output_tokens: fields.max_output_tokens,
        max_message_chars: fields.max_message_chars,
        num_retries: fields.num_retries.max(1),
        retry_multiplier: fields.retry_multiplier.0,
        retry_min_wait: fields.retry_min_wait.0,
        retry_max_wait: fields.retry_max_wait.0,
        timeout: fields.timeout.map(|seconds| seconds.0),
        input_cost_per_token: both.map(|(input, _)| input),
        output_cost_per_token: both.map(|(_, output)| output),
        drop_params: fields.drop_params,
        modify_params: fields.modify_params,
        disable_vision: fields.disable_vision,
        disable_stop_word: fields.disable_stop_word,
        caching_prompt: fields.caching_prompt,
        log_completions: fields.log_completions,
        log_completions_folder: fields.log_completions_folder.clone(),
        native_tool_calling: fields.native_tool_calling,
        reasoning_effort: fields.reasoning_effort.clone(),
        safety_settings: safety.map(|list| list.into_iter().map(Value::Object).collect()),
        headers,
        api_version: None,
        completion_kwargs: kwargs,
        not_ready: None,
    })
}

type Headers = Vec<(String, String)>;

/// `extra_headers` are headers and `extra_body` belongs to the body; the rest is the body already.
fn kwargs(given: &Map<String, Value>) -> Result<(Headers, Map<String, Value>), String> {
    let mut body = given.clone();
    let mut headers = Vec::new();
    if let Some(extra) = body.remove("extra_headers") {
        let wrong = || "extra_headers of completion_kwargs must be a table of texts".to_owned();
        let Value::Object(extra) = extra else {
            return Err(wrong());
        };
        for (name, value) in extra {
            let secret = ["authorization", "key", "token", "cookie"];
            let lower = name.to_lowercase();
            if secret.iter().any(|word| lower.contains(word)) {
                return Err(
                    "a header of completion_kwargs looks like a key: use api_key".to_owned(),
                );
            }
            let value = value.as_str().ok_or_else(wrong)?;
            headers.push((name, value.to_owned()));
        }
    }
    if body.contains_key("api_key") {
        return Err(
            "completion_kwargs must hold no api_key: it is a key of the section".to_owned(),
        );
    }
    if let Some(extra) = body.remove("extra_body") {
        let Value::Object(extra) = extra else {
            return Err("extra_body of completion_kwargs must be a table".to_owned());
        };
        body.extend(extra);
    }
    Ok((headers, body))
}
