//! What an agent without network may not ask of a provider: the provider's own. A picture by address, a
//! search or a remote tool would be a way out of the sandbox.

use serde_json::{Map, Value};

use super::said::{cut, says_nothing};
use crate::wire::Spoken;

const FUNCTION: &str = "function";
const CUSTOM: &str = "custom";

/// Tools that the agent itself carries out.
const OWN_TOOLS: [&str; 7] = [
    FUNCTION,
    CUSTOM,
    "computer",
    "computer_use",
    "computer_use_preview",
    "local_shell",
    "apply_patch",
];

/// The same with a date at their end.
const OWN_DATED_TOOLS: [&str; 5] = [
    "computer_",
    "bash_",
    "text_editor_",
    "memory_",
    "tool_search_tool_",
];

/// What such a tool, and a function, may have. Proxies look for switches beside these.
const OF_FUNCTIONS: [&str; 14] = [
    "allowed_callers",
    "cache_control",
    "custom",
    "defer_loading",
    "description",
    "eager_input_streaming",
    "format",
    "function",
    "input_examples",
    "input_schema",
    "name",
    "parameters",
    "strict",
    "type",
];

/// Where what is said stands.
const SAID: [&str; 4] = ["messages", "input", "system", "instructions"];

/// Parts that are given by address.
const ADDRESSES: [&str; 4] = ["image_url", "audio_url", "video_url", "file_url"];

/// Parts that are given by content or by a name at the provider, where proxies take an address as well.
const CONTENTS: [&str; 2] = ["file_data", "file_id"];

/// Whether it keeps to what an agent without network can do; the error says what does not.
pub(super) fn stays_inside(wire: Spoken, body: &Value) -> Result<(), String> {
    match body.get("tools") {
        Some(Value::Array(tools)) => tools.iter().try_for_each(|each| tool(wire, each))?,
        Some(other) if !says_nothing(other) => return Err("`tools` is no list".to_owned()),
        _ => {}
    }
    SAID.iter()
        .filter_map(|part| body.get(part))
        .try_for_each(said)
}

fn tool(wire: Spoken, tool: &Value) -> Result<(), String> {
    let Some(tool) = tool.as_object() else {
        return Err("a tool is no object".to_owned());
    };
    let kind = match tool.get("type") {
        Some(kind) => kind.as_str().ok_or("the `type` of a tool is no text")?,
        // Only this form has tools of the agent's own without a type.
        None if wire == Spoken::Messages
            && tool.contains_key("name")
            && tool.contains_key("input_schema") =>
        {
            CUSTOM
        }
        None => return Err("a tool has no `type`".to_owned()),
    };
    if !is_own(kind) {
        return Err(format!(
            "the provider's tool `{}` can't be used here: this agent has no network",
            cut(kind)
        ));
    }
    let odd = |key: &&String| !OF_FUNCTIONS.contains(&key.as_str());
    match tool.keys().find(odd) {
        Some(key) if [FUNCTION, CUSTOM].contains(&kind) => Err(format!(
            "`{}` of a tool is not taken here: leave it out",
            cut(key)
        )),
        _ => Ok(()),
    }
}

fn is_own(kind: &str) -> bool {
    OWN_TOOLS.contains(&kind)
        || OWN_DATED_TOOLS
            .iter()
            .any(|prefix| kind.starts_with(prefix))
}

/// The depth was bounded when the body was read.
fn said(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(said),
        Value::Object(map) => part(map),
        _ => Ok(()),
    }
}

fn part(map: &Map<String, Value>) -> Result<(), String> {
    let kind = map.get("type").and_then(Value::as_str);
    if kind == Some("url") {
        return Err(by_address("url"));
    }
    for (key, value) in map {
        // What a tool was called with is the model's own business.
        if key == "input" && kind.is_some_and(|kind| kind.ends_with("tool_use")) {
            continue;
        }
        if ADDRESSES.contains(&key.as_str()) {
            let address = value.as_str().or_else(|| value.get("url")?.as_str());
            if address.is_some_and(|address| !address.starts_with("data:")) {
                return Err(by_address(key));
            }
        }
        let by_name = CONTENTS.contains(&key.as_str());
        if by_name && value.as_str().is_some_and(|name| name.contains("://")) {
            return Err(by_address(key));
        }
        said(value)?;
    }
    Ok(())
}

fn by_address(key: &str) -> String {
    format!("`{key}` must hold the content itself, as data: this agent has no network")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_agents_do_by_themselves_passes() {
        let data = "data:image/png;base64,AAAA";
        for body in [
            json!({"messages": [{"role": "user", "content": "see https://example.org"}]}),
            json!({"messages": [{"content": [{"type": "image_url", "image_url": {"url": data}}]}]}),
            json!({"input": [{"content": [{"type": "input_image", "image_url": data}]}]}),
            json!({"messages": [{"content": [{"type": "image", "source":
                {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}]}),
            json!({"messages": [{"content": [{"type": "tool_use", "name": "open",
                "input": {"image_url": "http://x", "type": "url"}}]}]}),
            json!({"messages": [{"content": [{"type": "file", "file": {"file_id": "file-7"}}]}]}),
            json!({"tools": [{"type": "function", "function": {"name": "x"}},
                {"name": "x", "input_schema": {}, "cache_control": {"type": "ephemeral"}},
                {"type": "computer_20250124", "display_width_px": 1}, {"type": "bash_20250124"}]}),
            json!({"tools": null}),
        ] {
            assert_eq!(stays_inside(Spoken::Messages, &body), Ok(()), "{body}");
        }
    }

    #[test]
    fn what_needs_the_providers_network_does_not() {
        for body in [
            json!({"messages": [{"content": [{"image_url": {"url": "https://x/?leak"}}]}]}),
            json!({"input": [{"content": [{"image_url": "http://x"}]}]}),
            json!({"input": [{"type": "function_call_output",
                "output": [{"type": "input_file", "file_url": "http://x"}]}]}),
            json!({"messages": [{"content": [{"source": {"type": "url", "url": "http://x"}}]}]}),
            json!({"messages": [{"content": [{"file": {"file_id": "https://x/?leak"}}]}]}),
            json!({"messages": [{"content": [{"file": {"file_data": "gs://x"}}]}]}),
            json!({"tools": [{"type": "function"}, {"type": "web_search_20250305"}]}),
            json!({"tools": [{"type": "mcp", "server_url": "http://x"}]}),
            json!({"tools": [{"type": "openrouter:web_search"}]}),
            json!({"tools": [{"googleSearch": {}}]}),
            json!({"tools": [{"name": "x"}]}),
            json!({"tools": [{"name": "x", "input_schema": {}, "googleSearch": {}}]}),
            json!({"tools": [{"type": "function", "function": {}, "url_context": {}}]}),
            json!({"tools": [{"type": 7}]}),
            json!({"tools": ["web_search"]}),
            json!({"tools": {"type": "web_search"}}),
        ] {
            assert!(stays_inside(Spoken::Messages, &body).is_err(), "{body}");
        }
    }

    #[test]
    fn tools_without_a_type_are_known_to_one_form_only() {
        let body = json!({"tools": [{"name": "x", "input_schema": {}}]});
        for wire in [Spoken::Chat, Spoken::Responses] {
            assert!(stays_inside(wire, &body).is_err(), "{wire:?}");
        }
    }
}
