//! What passes, and what is refused by its path.

use serde_json::json;

use super::*;

const DATA: &str = "data:image/png;base64,AAAA";

#[test]
fn what_agents_do_by_themselves_passes() {
    use Spoken::{Chat, Messages, Responses};
    for (wire, body) in [
        (
            Chat,
            json!({"messages": [{"role": "user", "content": "see https://example.org"}]}),
        ),
        (
            Chat,
            json!({"messages": [
                {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
                    {"type": "image_url", "image_url": {"url": DATA, "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                    {"type": "file", "file": {"file_data": DATA, "filename": "x.pdf"}}]},
                {"role": "assistant", "content": null, "reasoning_content": "hm", "audio": null,
                    "reasoning_details": [{"type": "reasoning.text", "text": "x", "signature": "s", "index": 0}],
                    "tool_calls": [{"id": "1", "type": "function", "index": 0,
                        "function": {"name": "open", "arguments": "{\"image_url\":\"http://x\"}"},
                        "extra_content": {"google": {"thought_signature": "s"}}}]},
                {"role": "tool", "tool_call_id": "1", "content": "done"}],
                "tools": [{"type": "function", "function": {"name": "x", "strict": true,
                    "parameters": {"type": "object", "properties": {"url": {"type": "string"}}}}}],
                "tool_choice": {"type": "function", "function": {"name": "x"}},
                "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
                "logit_bias": {"50256": -100}, "stop": ["x"], "thinking": {"type": "enabled", "budget_tokens": 9}}),
        ),
        (
            Responses,
            json!({"input": [{"role": "developer", "content": "x"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"},
                    {"type": "input_image", "image_url": DATA, "file_id": null}]},
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "x"}],
                    "encrypted_content": "x"},
                {"type": "message", "role": "assistant", "phase": "final", "content":
                    [{"type": "output_text", "text": "x", "annotations": [], "logprobs": []}]},
                {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "namespace": "n"},
                {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "x"}]},
                {"type": "custom_tool_call", "call_id": "2", "name": "c", "input": "x"},
                {"type": "custom_tool_call_output", "call_id": "2", "output": "x"},
                {"type": "local_shell_call", "call_id": "3", "action": {"type": "exec", "command": ["ls"], "env": {}}},
                {"type": "computer_call_output", "call_id": "4", "current_url": "http://x",
                    "output": {"type": "computer_screenshot", "image_url": DATA}},
                {"type": "additional_tools", "role": "developer", "tools": [
                    {"type": "namespace", "name": "n", "description": "d", "tools": [
                        {"type": "function", "name": "f", "parameters": {}, "strict": false}]},
                    {"type": "custom", "name": "exec", "format": {"type": "grammar", "syntax": "lark"}}]}],
                "tools": [{"type": "function", "name": "f", "parameters": {}}, {"type": "local_shell"}],
                "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
                "text": {"format": {"type": "text"}, "verbosity": "low"}, "include": ["reasoning.encrypted_content"],
                "reasoning": {"effort": "low", "summary": "auto"}, "store": false}),
        ),
        (
            Messages,
            json!({"system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
                "messages": [{"role": "user", "content": [{"type": "image", "source":
                    {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "s"},
                    {"type": "tool_use", "id": "1", "name": "open", "caller": {"type": "direct"},
                        "input": {"image_url": "http://x", "type": "url", "file_id": "f"}},
                    {"type": "server_tool_use", "id": "2", "name": "tool_search_tool_regex", "input": {}},
                    {"type": "tool_search_tool_result", "tool_use_id": "2", "content":
                        {"type": "tool_search_tool_search_result", "tool_references":
                            [{"type": "tool_reference", "tool_name": "x"}]}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": false,
                    "content": [{"type": "text", "text": "x"}]}]},
                {"role": "system", "content": "s"}],
                "tools": [{"name": "x", "input_schema": {}, "cache_control": {"type": "ephemeral"}},
                    {"type": "computer_20250124", "name": "computer", "display_width_px": 1},
                    {"type": "bash_20250124", "name": "bash"}, {"type": "tool_search_tool_regex_20251119", "name": "t"}],
                "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
                "thinking": {"type": "adaptive", "display": "x"}, "output_config": {"effort": "low"},
                "context_management": {"edits": [{"type": "clear_tool_uses_20250919",
                    "trigger": {"type": "input_tokens", "value": 7}}]}}),
        ),
        (Messages, json!({"tools": null})),
    ] {
        assert_eq!(stays_inside(wire, &body), Ok(()), "{body}");
    }
}

fn refusal(wire: Spoken, body: &Value) -> String {
    stays_inside(wire, body).unwrap_err()
}

#[test]
fn tools_of_the_provider_are_refused_wherever_they_stand_and_by_their_path() {
    let search = || json!({"type": "web_search"});
    let inside = |item: Value| json!({"input": [{"role": "user", "content": "x"}, item]});
    for (wire, body, path) in [
        (
            Spoken::Responses,
            inside(json!({"type": "additional_tools", "role": "developer", "tools": [search()]})),
            "`input[1].tools[0]`",
        ),
        (
            Spoken::Responses,
            inside(json!({"type": "additional_tools", "tools":
                [{"type": "namespace", "name": "n", "tools":
                    [{"type": "namespace", "name": "m", "tools": [search()]}]}]})),
            "`input[1].tools[0].tools[0].tools[0]`",
        ),
        (
            Spoken::Responses,
            inside(json!({"type": "tool_search_output", "tools": [search()]})),
            "`input[1].tools[0]`",
        ),
        (
            Spoken::Responses,
            inside(json!({"type": "message", "role": "user", "content": "x", "tools": [search()]})),
            "`input[1].tools`",
        ),
        (
            Spoken::Responses,
            inside(json!({"type": "web_search_call", "action": {"query": "x"}})),
            "`input[1]`",
        ),
        (
            Spoken::Responses,
            inside(json!({"type": "mcp_approval_response", "approve": true})),
            "`input[1]`",
        ),
        (
            Spoken::Responses,
            inside(json!({"type": "item_reference", "id": "rs_1"})),
            "`input[1]`",
        ),
        (
            Spoken::Responses,
            json!({"tools": [{"type": "function", "name": "f"}, search()]}),
            "`tools[1]`",
        ),
        (
            Spoken::Responses,
            json!({"tool_choice": search()}),
            "`tool_choice`",
        ),
        (
            Spoken::Responses,
            json!({"tools": [{"type": "mcp", "server_url": "http://x"}]}),
            "`tools[0]`",
        ),
        (
            Spoken::Chat,
            json!({"tools": [{"type": "openrouter:web_search"}]}),
            "`tools[0]`",
        ),
        (
            Spoken::Chat,
            json!({"tools": [{"type": "function", "function": {"name": "f", "url_context": {}, "googleSearch": {"a": 1}}}]}),
            "`tools[0].function.googleSearch`",
        ),
        (
            Spoken::Chat,
            json!({"messages": [{"role": "user", "content": "x", "tools": [search()]}]}),
            "`messages[0].tools`",
        ),
        (
            Spoken::Chat,
            json!({"messages": [{"role": "user", "content": [{"type": "tool", "tools": [search()]}]}]}),
            "`messages[0].content[0]`",
        ),
        (
            Spoken::Messages,
            json!({"messages": [{"role": "user", "content": [{"type": "tools_changed", "tools": [search()]}]}]}),
            "`messages[0].content[0]`",
        ),
        (
            Spoken::Messages,
            json!({"messages": [{"role": "assistant", "content":
                [{"type": "server_tool_use", "name": "web_search", "input": {}}]}]}),
            "`messages[0].content[0]`",
        ),
        (
            Spoken::Messages,
            json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
                "content": [{"type": "web_search_tool_result", "content": []}]}]}]}),
            "`messages[0].content[0].content[0]`",
        ),
        (
            Spoken::Messages,
            json!({"tools": [{"type": "bash_code_execution_20250825", "name": "x"}]}),
            "`tools[0]`",
        ),
    ] {
        let why = refusal(wire, &body);
        assert!(why.starts_with(path), "{path}: {why}");
    }
}

#[test]
fn what_lies_elsewhere_is_refused_in_every_form() {
    let chat = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    let item = |part: Value| json!({"input": [{"role": "user", "content": [part]}]});
    for (wire, body) in [
        (
            Spoken::Chat,
            chat(json!({"type": "file", "file": {"file_id": "file-7"}})),
        ),
        (
            Spoken::Chat,
            chat(json!({"type": "file", "file": {"file_data": "gs://x"}})),
        ),
        (
            Spoken::Chat,
            chat(json!({"type": "image_url", "image_url": {"url": "https://x/?leak"}})),
        ),
        (
            Spoken::Chat,
            chat(json!({"type": "image_url", "image_url": "//x/?leak"})),
        ),
        (
            Spoken::Chat,
            chat(json!({"image_url": {"url": "https://x/?leak"}})),
        ),
        (
            Spoken::Chat,
            json!({"messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]}),
        ),
        (
            Spoken::Responses,
            item(json!({"type": "input_file", "file_id": "file-7"})),
        ),
        (
            Spoken::Responses,
            item(json!({"type": "input_image", "file_id": "file-7"})),
        ),
        (
            Spoken::Responses,
            item(json!({"type": "input_image", "image_url": "http://x"})),
        ),
        (
            Spoken::Responses,
            json!({"input": [{"type": "function_call_output",
                "output": [{"type": "input_file", "file_url": "http://x"}]}]}),
        ),
        (
            Spoken::Responses,
            json!({"input": [{"type": "computer_call_output", "output":
                {"type": "computer_screenshot", "file_id": "file-7"}}]}),
        ),
        (
            Spoken::Messages,
            chat(json!({"type": "image", "source": {"type": "url", "url": "http://x"}})),
        ),
        (
            Spoken::Messages,
            chat(json!({"type": "document", "source": {"type": "file", "file_id": "f"}})),
        ),
        (
            Spoken::Messages,
            chat(json!({"type": "container_upload", "file_id": "f"})),
        ),
        (
            Spoken::Messages,
            chat(json!({"type": "text", "text": "x", "container_id": "c"})),
        ),
        (
            Spoken::Messages,
            json!({"tools": [{"name": "x", "input_schema": {}, "googleSearch": {}}]}),
        ),
    ] {
        let why = refusal(wire, &body);
        assert!(why.starts_with('`'), "{why}");
    }
}

#[test]
fn what_has_no_form_is_refused() {
    for body in [
        json!({"tools": [{"googleSearch": {}}]}),
        json!({"tools": [{"name": "x"}]}),
        json!({"tools": [{"type": 7}]}),
        json!({"tools": ["web_search"]}),
        json!({"tools": {"type": "web_search"}}),
        json!({"messages": [{"content": [{"type": ["text"]}]}]}),
    ] {
        refusal(Spoken::Messages, &body);
    }
    let untyped = json!({"tools": [{"name": "x", "input_schema": {}}]});
    for wire in [Spoken::Chat, Spoken::Responses] {
        refusal(wire, &untyped);
    }
}

#[test]
fn a_refusal_is_short_however_deep_it_stands() {
    let mut deep = json!({"type": "web_search"});
    for _ in 0..40 {
        deep = json!({"type": "namespace", "tools": [deep]});
    }
    let why = refusal(Spoken::Responses, &json!({"tools": [deep]}));
    assert!(why.contains("`web_search`") && why.len() < 1_000, "{why}");
}
