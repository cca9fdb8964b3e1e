//! Which models a run asks, as its manifest says it: everything that changes answers, and no key.

use std::collections::{BTreeMap, BTreeSet};

use agon_core::Digest;
use agon_llm::local::fingerprint;
use agon_llm::{Model, ModelSpec, Provider, Scrubber, Wire};
use agon_store::{JudgeStamp, Manifest, ModelStamp};
use serde_json::{Value, json};

use super::failure::Failure;

/// Who provides a model that only a runner asks.
const ELSEWHERE: &str = "runner";
const PROVIDERS: [Provider; 6] = [
    Provider::OpenAi,
    Provider::Anthropic,
    Provider::Gemini,
    Provider::Compatible,
    Provider::Local,
    Provider::Mock,
];

/// `tape`: the digest of the tape that answers instead.
pub(super) fn stamp(model: &Model, tape: Option<Digest>) -> Result<ModelStamp, Failure> {
    let spec = model.spec();
    Ok(ModelStamp {
        name: spec.name.clone(),
        provider: spec.provider.name().to_owned(),
        model: spec.model.clone(),
        host: host(&spec.base_url),
        settings: settings(spec)?,
        tape,
    })
}

/// A model that somebody else asks, in whatever way.
pub(super) fn elsewhere(name: &str, base_url: Option<&str>) -> ModelStamp {
    ModelStamp {
        name: name.to_owned(),
        provider: ELSEWHERE.to_owned(),
        model: name.to_owned(),
        host: base_url.and_then(host),
        settings: BTreeMap::new(),
        tape: None,
    }
}

/// Whether a judge would judge itself: by the provider where it is one of ours, else by the name alone.
pub(super) fn is_same(judge: &ModelSpec, played: &ModelStamp) -> bool {
    let ours = PROVIDERS.iter().any(|one| one.name() == played.provider);
    if ours {
        return judge.provider.name() == played.provider && judge.model == played.model;
    }
    let ends = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    judge.name == played.name
        || ends(&judge.model, &played.model)
        || ends(&played.model, &judge.model)
}

/// Host and port of an address; what else stands in it may be a secret.
fn host(base_url: &str) -> Option<String> {
    let rest = base_url.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(Scrubber::scrub(host)).filter(|host| !host.is_empty())
}

/// What follows the host, such as the deployment that is asked.
fn path(base_url: &str) -> Option<&str> {
    let rest = base_url.split_once("://")?.1;
    let path = rest.split(['?', '#']).next()?;
    Some(&path[path.find('/')?..]).filter(|path| *path != "/")
}

/// Of the file that answers, where there is one.
fn content(spec: &ModelSpec) -> Result<Option<Digest>, Failure> {
    if spec.provider == Provider::Local {
        return Ok(fingerprint(&spec.model)?);
    }
    let script = spec.model.strip_prefix("script:");
    let Some(script) = script.filter(|_| spec.provider == Provider::Mock) else {
        return Ok(None);
    };
    let read = std::fs::read(script);
    let text = read.map_err(|error| Failure::new(format_args!("can't read {script}: {error}")))?;
    Ok(Some(Digest::of(&text)))
}

fn wire(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => "chat",
        Wire::Responses => "responses",
        Wire::Messages => "messages",
        Wire::Gemini => "gemini",
    }
}

/// What is said about a model that can change its answers, as far as it is said.
fn settings(spec: &ModelSpec) -> Result<BTreeMap<String, Value>, Failure> {
    let settings = &spec.settings;
    let headers: BTreeMap<_, _> = settings.headers.iter().cloned().collect();
    let all = [
        ("wire", json!(wire(spec.wire))),
        ("path", json!(path(&spec.base_url))),
        ("content", json!(content(spec)?)),
        ("headers", json!(headers)),
        ("temperature", json!(settings.temperature)),
        ("top_p", json!(settings.top_p)),
        ("top_k", json!(settings.top_k)),
        ("seed", json!(settings.seed)),
        ("max_output_tokens", json!(settings.max_output_tokens)),
        ("drop_params", json!(settings.drop_params)),
        ("modify_params", json!(settings.modify_params)),
        ("disable_vision", json!(settings.disable_vision)),
        ("disable_stop_word", json!(settings.disable_stop_word)),
        ("native_tool_calling", json!(settings.native_tool_calling)),
        ("reasoning_effort", json!(settings.reasoning_effort)),
        ("safety_settings", json!(settings.safety_settings)),
        ("api_version", json!(settings.api_version)),
        ("completion_kwargs", json!(settings.completion_kwargs)),
    ];
    let said = all.into_iter().filter(|(_, value)| match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    });
    let clean = |value: Value| Scrubber::clean(&value).into_owned();
    let said = said.map(|(name, value)| (name.to_owned(), clean(value)));
    Ok(said.collect())
}

/// What is no longer the same about a run's judge.
pub(super) fn judges(old: &Manifest, new: &Manifest, run: &str) -> Vec<String> {
    match (&old.judge, &new.judge) {
        (old, new) if old == new => Vec::new(),
        (Some(old), Some(new)) if old.model.name == new.model.name => {
            let mut lines = difference(&old.model, &new.model);
            if old.votes != new.votes {
                lines.push(format!("judge: votes {} -> {}", old.votes, new.votes));
            }
            if old.prompts != new.prompts {
                let (was, is) = (old.prompts.short(), new.prompts.short());
                lines.push(format!("judge: prompts {was} -> {is}"));
            }
            lines
        }
        (old, new) => {
            let name = |stamp: &Option<JudgeStamp>| {
                stamp
                    .as_ref()
                    .map_or("none".to_owned(), |stamp| stamp.model.name.clone())
            };
            let (was, is) = (name(old), name(new));
            vec![format!(
                "judge: {was} -> {is} (what was played is judged anew by: agon validate {run} --judge {is})"
            )]
        }
    }
}

/// What is no longer the same about the models of a run.
pub(super) fn differences(old: &Manifest, new: &Manifest) -> Vec<String> {
    let most = old.models.len().max(new.models.len());
    (0..most)
        .flat_map(|at| match (old.models.get(at), new.models.get(at)) {
            (Some(old), Some(new)) => difference(old, new),
            (old, new) => {
                let name = |stamp: Option<&ModelStamp>| {
                    stamp.map_or("none".to_owned(), |stamp| stamp.name.clone())
                };
                vec![format!("model: {} -> {}", name(old), name(new))]
            }
        })
        .collect()
}

fn difference(old: &ModelStamp, new: &ModelStamp) -> Vec<String> {
    let (before, after) = (facts(old), facts(new));
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let none = || "none".to_owned();
    let changed = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name));
    changed
        .map(|name| {
            let was = before.get(name).cloned().unwrap_or_else(none);
            let is = after.get(name).cloned().unwrap_or_else(none);
            format!("model {}: {name}: {was} -> {is}", old.name)
        })
        .collect()
}

fn facts(stamp: &ModelStamp) -> BTreeMap<&str, String> {
    let mut facts: BTreeMap<&str, String> = stamp
        .settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    facts.insert("name", stamp.name.clone());
    facts.insert("provider", stamp.provider.clone());
    facts.insert("model", stamp.model.clone());
    if let Some(host) = &stamp.host {
        facts.insert("host", host.clone());
    }
    if let Some(tape) = &stamp.tape {
        facts.insert("tape", tape.short());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_by_its_host_alone() {
        assert_eq!(
            host("https://api.openai.com/v1").as_deref(),
            Some("api.openai.com")
        );
        assert_eq!(
            host("http://u:p@127.0.0.1:80/v1?k=x").as_deref(),
            Some("127.0.0.1:80")
        );
        assert_eq!(host(""), None);
        assert_eq!(path("https://api.openai.com/v1?k=x#y"), Some("/v1"));
        assert_eq!(path("https://u:p@api.openai.com"), None);
    }

    #[test]
    fn a_model_that_others_ask_is_known_by_its_name() {
        let judge = |provider, name: &str, model: &str| ModelSpec {
            name: name.to_owned(),
            provider,
            wire: Wire::Chat,
            model: model.to_owned(),
            base_url: String::new(),
            key: None,
            settings: Default::default(),
        };
        let gpt = judge(Provider::OpenAi, "strict", "gpt-4o");
        for (name, same) in [
            ("gpt-4o", true),
            ("openai/gpt-4o", true),
            ("strict", true),
            ("my-gpt-4o", false),
            ("gpt-4o-mini", false),
        ] {
            assert_eq!(is_same(&gpt, &elsewhere(name, None)), same, "{name}");
        }
        let routed = judge(Provider::Compatible, "r", "openai/gpt-4o");
        assert!(is_same(&routed, &elsewhere("gpt-4o", None)));
        let mut stamp = elsewhere("gpt-4o", Some("http://u:p@host:1/v1"));
        assert_eq!(stamp.host.as_deref(), Some("host:1"));
        stamp.provider = "openai".to_owned();
        assert!(is_same(&gpt, &stamp));
        assert!(!is_same(&judge(Provider::Mock, "m", "gpt-4o"), &stamp));
    }

    #[test]
    fn what_differs_is_named() {
        let old = ModelStamp {
            name: "eval".to_owned(),
            provider: "openai".to_owned(),
            model: "gpt-4o".to_owned(),
            host: Some("api.openai.com".to_owned()),
            settings: BTreeMap::from([("temperature".to_owned(), json!(0.0))]),
            tape: None,
        };
        assert_eq!(difference(&old, &old), Vec::<String>::new());
        let mut new = old.clone();
        new.model = "gpt-5".to_owned();
        new.settings = BTreeMap::from([("seed".to_owned(), json!(7))]);
        assert_eq!(
            difference(&old, &new),
            [
                "model eval: model: gpt-4o -> gpt-5",
                "model eval: seed: none -> 7",
                "model eval: temperature: 0.0 -> none",
            ]
        );
    }
}
