//! What the body of a request may hold at every depth when its sender has no network: the kinds of items, parts
//! and tools of each form, and what stands in each. Tables alone; `reach` walks a body along them.

/// What may stand at a place of a body.
#[derive(Debug)]
pub(super) enum Rule {
    /// Words and values of the agent's own, which no provider takes for an order: a schema, the input of a tool.
    Free,
    /// Numbers and words, also in lists and in objects: settings.
    Plain,
    /// The content itself: base64, with or without a `data:` before it.
    Data,
    /// A `data:` address, as a text or under `url`.
    DataUrl,
    /// A text, one of these, or a list of them.
    Parts(&'static [Kind]),
    /// An object with these keys.
    Object(&'static [(&'static str, Rule)]),
    /// A list of tools.
    Tools,
    /// Blocks of Messages, which hold others.
    Blocks,
    /// Which tool is to be used, or a list of those that may be.
    Choice,
}

/// An item, part or setting by its `type`.
#[derive(Debug)]
pub(super) struct Kind {
    /// One that ends with `*` stands for all that begin so.
    pub(super) name: &'static str,
    /// Beside words and numbers, which may stand anywhere.
    pub(super) keys: &'static [(&'static str, Rule)],
}

const fn kind(name: &'static str, keys: &'static [(&'static str, Rule)]) -> Kind {
    Kind { name, keys }
}

use Rule::{Blocks, Choice, Data, DataUrl, Free, Object, Parts, Plain, Tools};

/// The whole body, form by form; `keys` says which of these there are at all.
pub(super) const CHAT: &[(&str, Rule)] = &[
    ("messages", Parts(CHAT_MESSAGES)),
    ("tools", Tools),
    ("tool_choice", Choice),
    ("response_format", Parts(FORMATS)),
    ("structured_outputs", Free),
    ("prediction", Parts(PREDICTIONS)),
    ("chat_template_kwargs", Plain),
    ("logit_bias", Plain),
    ("reasoning", Plain),
    ("thinking", Plain),
    ("stop", Plain),
    ("stream_options", Plain),
];

pub(super) const RESPONSES: &[(&str, Rule)] = &[
    ("input", Parts(ITEMS)),
    ("instructions", Parts(ITEMS)),
    ("tools", Tools),
    ("tool_choice", Choice),
    ("text", Object(&[("format", Parts(FORMATS))])),
    ("context_management", Parts(CONTEXT)),
    ("include", Plain),
    ("reasoning", Plain),
    ("stream_options", Plain),
    // Kept at the provider: the reader of bodies refuses them for everybody, and says what to do instead.
    ("conversation", Free),
    ("previous_response_id", Free),
    ("prompt", Free),
];

pub(super) const MESSAGES: &[(&str, Rule)] = &[
    ("messages", Parts(TURNS)),
    ("system", Blocks),
    ("tools", Tools),
    ("tool_choice", Choice),
    ("output_format", Parts(FORMATS)),
    (
        "output_config",
        Object(&[("format", Parts(FORMATS)), ("task_budget", Plain)]),
    ),
    ("context_management", Object(&[("edits", Parts(CONTEXT))])),
    ("cache_control", Plain),
    ("stop_sequences", Plain),
    ("thinking", Plain),
];

/// The name of what has no `type`.
pub(super) const UNTYPED: &str = "";

const FORMATS: &[Kind] = &[
    kind("text", &[]),
    kind("json_object", &[("schema", Free)]),
    kind(
        "json_schema",
        &[("schema", Free), ("json_schema", Object(SCHEMA))],
    ),
    kind("grammar", &[]),
];
const SCHEMA: &[(&str, Rule)] = &[("schema", Free)];

const PREDICTIONS: &[Kind] = &[kind("content", &[("content", Parts(CHAT_PARTS))])];

/// They shorten what is said, and nothing else.
const CONTEXT: &[Kind] = &[
    kind("compaction", &[]),
    kind("clear_tool_uses_*", EDIT),
    kind("clear_thinking_*", EDIT),
    kind("compact_*", EDIT),
];
const EDIT: &[(&str, Rule)] = &[
    ("trigger", Plain),
    ("keep", Plain),
    ("clear_at_least", Plain),
    ("clear_tool_inputs", Plain),
    ("exclude_tools", Plain),
];

const CHAT_MESSAGES: &[Kind] = &[kind(
    UNTYPED,
    &[
        ("content", Parts(CHAT_PARTS)),
        ("tool_calls", Parts(CHAT_CALLS)),
        ("function_call", Free),
        ("reasoning_details", Parts(CHAT_THOUGHTS)),
        ("thinking_blocks", Blocks),
        ("annotations", Parts(ANNOTATIONS)),
        ("images", Parts(CHAT_PARTS)),
        ("cache_control", Plain),
    ],
)];

const CHAT_CALLS: &[Kind] = &[
    kind(UNTYPED, CHAT_CALL),
    kind("function", CHAT_CALL),
    kind("custom", CHAT_CALL),
];
const CHAT_CALL: &[(&str, Rule)] = &[
    ("function", Free),
    ("custom", Free),
    // Where Gemini wants its thoughts back.
    ("extra_content", Plain),
    ("provider_specific_fields", Plain),
];

const CHAT_THOUGHTS: &[Kind] = &[kind("reasoning.*", &[])];

const CHAT_PARTS: &[Kind] = &[
    kind("text", CACHED),
    kind("refusal", &[]),
    kind(
        "image_url",
        &[("image_url", DataUrl), ("cache_control", Plain)],
    ),
    kind("video_url", &[("video_url", DataUrl)]),
    kind("audio_url", &[("audio_url", DataUrl)]),
    kind("input_audio", &[("input_audio", Object(&[("data", Data)]))]),
    kind(
        "file",
        &[
            ("file", Object(&[("file_data", Data)])),
            ("cache_control", Plain),
        ],
    ),
    kind("thinking", CACHED),
    kind("redacted_thinking", CACHED),
];
const CACHED: &[(&str, Rule)] = &[("cache_control", Plain)];

const ANNOTATIONS: &[Kind] = &[kind(
    "url_citation",
    &[("url_citation", Free), ("url", Free)],
)];

/// Of Responses. A message may have no type.
const ITEMS: &[Kind] = &[
    kind(UNTYPED, MESSAGE),
    kind("message", MESSAGE),
    kind(
        "reasoning",
        &[("summary", Parts(PARTS)), ("content", Parts(PARTS))],
    ),
    kind("compaction", &[]),
    kind("function_call", &[]),
    kind("function_call_output", OUTPUT),
    kind("custom_tool_call", &[]),
    kind("custom_tool_call_output", OUTPUT),
    kind(
        "computer_call",
        &[
            ("action", Free),
            ("actions", Free),
            ("pending_safety_checks", Plain),
        ],
    ),
    kind(
        "computer_call_output",
        &[
            ("output", Parts(PARTS)),
            ("acknowledged_safety_checks", Plain),
            ("current_url", Free),
        ],
    ),
    kind("local_shell_call", &[("action", Free)]),
    kind("local_shell_call_output", &[]),
    kind("apply_patch_call", &[("operation", Free)]),
    kind("apply_patch_call_output", OUTPUT),
    kind("tool_search_call", &[("arguments", Free)]),
    kind("tool_search_output", &[("tools", Tools)]),
    kind("additional_tools", &[("tools", Tools)]),
];
const MESSAGE: &[(&str, Rule)] = &[("content", Parts(PARTS))];
const OUTPUT: &[(&str, Rule)] = &[("output", Parts(PARTS))];

const PARTS: &[Kind] = &[
    kind("input_text", &[]),
    kind(
        "output_text",
        &[("annotations", Parts(ANNOTATIONS)), ("logprobs", Plain)],
    ),
    kind("text", &[]),
    kind("summary_text", &[]),
    kind("reasoning_text", &[]),
    kind("refusal", &[]),
    kind("input_image", &[("image_url", DataUrl)]),
    kind("computer_screenshot", &[("image_url", DataUrl)]),
    kind("input_file", &[("file_data", Data)]),
    kind("input_audio", &[("input_audio", Object(&[("data", Data)]))]),
];

/// Of Messages: who speaks.
const TURNS: &[Kind] = &[kind(
    UNTYPED,
    &[("content", Blocks), ("cache_control", Plain)],
)];

pub(super) const BLOCKS: &[Kind] = &[
    kind("text", &[("cache_control", Plain), ("citations", Plain)]),
    kind("thinking", CACHED),
    kind("redacted_thinking", CACHED),
    kind("compaction", CACHED),
    kind(
        "image",
        &[("source", Parts(SOURCES)), ("cache_control", Plain)],
    ),
    kind(
        "document",
        &[
            ("source", Parts(SOURCES)),
            ("citations", Plain),
            ("cache_control", Plain),
        ],
    ),
    kind(
        "search_result",
        &[
            ("content", Blocks),
            ("citations", Plain),
            ("cache_control", Plain),
        ],
    ),
    kind(
        "tool_use",
        &[("input", Free), ("caller", Plain), ("cache_control", Plain)],
    ),
    kind(
        "tool_result",
        &[("content", Blocks), ("cache_control", Plain)],
    ),
    kind("tool_reference", CACHED),
    // A search among the tools of the request: it leads nowhere else.
    kind(
        "server_tool_use",
        &[("input", Free), ("caller", Plain), ("cache_control", Plain)],
    ),
    kind(
        "tool_search_tool_result",
        &[("content", Parts(FOUND_TOOLS)), ("cache_control", Plain)],
    ),
];
const FOUND_TOOLS: &[Kind] = &[
    kind(
        "tool_search_tool_search_result",
        &[("tool_references", Blocks)],
    ),
    kind("tool_search_tool_result_error", &[]),
];
const SOURCES: &[Kind] = &[
    kind("base64", &[("data", Data)]),
    kind("text", &[]),
    kind("content", &[("content", Blocks)]),
];

/// Tools that the agent itself carries out, and what they may have beside words and numbers.
pub(super) const TOOLS: &[Kind] = &[
    kind("function", FUNCTION),
    kind("custom", FUNCTION),
    kind("computer", CACHED),
    kind("computer_use", CACHED),
    kind("computer_use_preview", CACHED),
    kind("local_shell", CACHED),
    kind("apply_patch", CACHED),
    // Tools that have a name in common; only Responses knows them.
    kind("namespace", &[("tools", Tools)]),
    // With a date at their end.
    kind("computer_2*", DATED),
    kind("computer_toolset_2*", DATED),
    kind("bash_2*", DATED),
    kind("text_editor_2*", DATED),
    kind("memory_2*", DATED),
    kind("tool_search_tool_regex*", DATED),
    kind("tool_search_tool_bm25*", DATED),
];
const DATED: &[(&str, Rule)] = &[
    ("cache_control", Plain),
    ("allowed_callers", Plain),
    ("input_examples", Free),
    ("configs", Plain),
];
/// A function has these and nothing else: proxies look for switches beside them.
pub(super) const FUNCTION: &[(&str, Rule)] = &[
    ("allowed_callers", Plain),
    ("cache_control", Plain),
    ("custom", Object(DESCRIBED)),
    ("defer_loading", Plain),
    ("description", Plain),
    ("eager_input_streaming", Plain),
    ("format", Free),
    ("function", Object(DESCRIBED)),
    ("input_examples", Free),
    ("input_schema", Free),
    ("name", Plain),
    ("parameters", Free),
    ("strict", Plain),
    ("type", Plain),
];
const DESCRIBED: &[(&str, Rule)] = &[
    ("cache_control", Plain),
    ("format", Free),
    ("parameters", Free),
];

/// What may be chosen: a tool of the agent's own, or how tools are used at all.
pub(super) const CHOICES: &[Kind] = &[
    kind("auto", &[]),
    kind("none", &[]),
    kind("any", &[]),
    kind("tool", &[]),
    kind("function", &[("function", Plain)]),
    kind("custom", &[("custom", Plain)]),
    kind("computer", &[]),
    kind("computer_use", &[]),
    kind("computer_use_preview", &[]),
    kind("local_shell", &[]),
    kind("apply_patch", &[]),
    kind(
        "allowed_tools",
        &[
            ("tools", Choice),
            ("allowed_tools", Object(&[("tools", Choice)])),
        ],
    ),
];
