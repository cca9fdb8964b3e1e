//! The variables by which clients find their service. All of them are documented for agents, in
//! `docs/agent-protocol.md`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Clients want one; any will do where nobody else can call.
pub(super) const ANY_KEY: &str = "agon";

/// With the version of the API in it, as OpenAI's clients want it.
const BASES: [&str; 4] = [
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "LLM_BASE_URL",
    "AGON_BASE_URL",
];

/// Without it, as Anthropic's do.
const BARE_BASES: [&str; 2] = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"];

const KEYS: [&str; 5] = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "LLM_API_KEY",
    "AGON_API_KEY",
];

const MODELS: [&str; 5] = [
    "AGON_MODEL",
    "OPENAI_MODEL",
    "ANTHROPIC_MODEL",
    // What Anthropic's own agent asks for its small jobs.
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
];

/// LiteLLM, which such agents use, takes what stands before the slash for the form of the request.
const LITELLM_MODEL: &str = "LLM_MODEL";

pub(super) fn of(at: SocketAddr, model: &str, key: &str) -> BTreeMap<String, String> {
    let bare = format!("http://{at}");
    let base = format!("{bare}/v1");
    let set = |names: &'static [&'static str], value: &str| {
        let value = value.to_owned();
        names
            .iter()
            .map(move |name| ((*name).to_owned(), value.clone()))
    };
    set(&BASES, &base)
        .chain(set(&BARE_BASES, &bare))
        .chain(set(&KEYS, key))
        .chain(set(&MODELS, model))
        .chain([(LITELLM_MODEL.to_owned(), format!("openai/{model}"))])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_finds_its_own_form() {
        let at = "127.0.0.1:4141".parse().unwrap();
        let set = of(at, "eval", "k");
        assert_eq!(set["OPENAI_BASE_URL"], "http://127.0.0.1:4141/v1");
        assert_eq!(set["ANTHROPIC_BASE_URL"], "http://127.0.0.1:4141");
        assert_eq!(set["LLM_MODEL"], "openai/eval");
        assert_eq!(set["AGON_MODEL"], "eval");
        assert_eq!(set["ANTHROPIC_API_KEY"], "k");
    }
}
