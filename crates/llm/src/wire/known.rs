//! What is known of models by their names. A name that is not listed is taken to be a model of today: it
//! sees, calls tools and takes every parameter. Providers' sizes of pictures are in `picture`.

use crate::spec::{ModelSpec, Provider};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// Thinks before it answers, by OpenAI's means.
    pub(crate) reasons: bool,
    /// Takes temperature and top_p.
    pub(crate) sampling: bool,
    /// Takes stop words.
    pub(crate) stop: bool,
    /// Calls tools by its provider's own means.
    pub(crate) tools: bool,
    /// Answers by a JSON schema that its provider enforces.
    pub(crate) schema: bool,
    pub(crate) vision: bool,
    /// Wants what it thought before a tool call back with it.
    pub(crate) reasoning_back: bool,
    /// Takes marks of what to keep in the prompt cache.
    pub(crate) cache_marks: bool,
    pub(crate) computer: Computer,
}

/// The provider's own tool for a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Computer {
    /// None: a function is given instead.
    Function,
    /// OpenAI's `computer_use_preview`, one action per call.
    Preview,
    /// OpenAI's `computer`, several actions per call.
    Batched,
}

const USUAL: Known = Known {
    reasons: false,
    sampling: true,
    stop: true,
    tools: true,
    schema: true,
    vision: true,
    reasoning_back: false,
    cache_marks: false,
    computer: Computer::Function,
};

/// Reasoning models of OpenAI: they refuse temperature, top_p and stop.
const REASONING: Known = Known {
    reasons: true,
    sampling: false,
    stop: false,
    ..USUAL
};

const TEXT_ONLY: Known = Known {
    vision: false,
    ..USUAL
};

/// Completes text: no tools, no pictures.
const PLAIN: Known = Known {
    tools: false,
    vision: false,
    ..USUAL
};

/// Thinks between tool calls, and is worse if it is not told what it thought.
const THINKING: Known = Known {
    vision: false,
    reasoning_back: true,
    ..USUAL
};

/// By how the last part of the name begins; the first row that fits counts.
const TABLE: [(&str, Known); 45] = [
    ("gpt-5-chat", USUAL),
    ("gpt-5.1-chat", USUAL),
    ("gpt-5.2-chat", USUAL),
    ("gpt-5.3-chat", USUAL),
    // Whether the smallest has the tool is not documented; a function is always taken.
    ("gpt-5.4-nano", REASONING),
    (
        "gpt-5.4",
        Known {
            computer: Computer::Batched,
            ..REASONING
        },
    ),
    (
        "gpt-5.5",
        Known {
            computer: Computer::Batched,
            ..REASONING
        },
    ),
    (
        "gpt-5.6",
        Known {
            computer: Computer::Batched,
            ..REASONING
        },
    ),
    ("gpt-5", REASONING),
    (
        "gpt-6",
        Known {
            computer: Computer::Batched,
            ..REASONING
        },
    ),
    (
        "computer-use-preview",
        Known {
            computer: Computer::Preview,
            ..REASONING
        },
    ),
    ("codex-", REASONING),
    (
        "o1-mini",
        Known {
            tools: false,
            schema: false,
            vision: false,
            ..REASONING
        },
    ),
    (
        "o1-preview",
        Known {
            tools: false,
            schema: false,
            vision: false,
            ..REASONING
        },
    ),
    ("o1", REASONING),
    (
        "o3-mini",
        Known {
            vision: false,
            ..REASONING
        },
    ),
    ("o3", REASONING),
    ("o4", REASONING),
    ("gpt-4-0", TEXT_ONLY),
    (
        "gpt-3.5",
        Known {
            schema: false,
            ..TEXT_ONLY
        },
    ),
    ("gpt-oss", TEXT_ONLY),
    // Grok's reasoning models refuse stop words.
    (
        "grok-4",
        Known {
            stop: false,
            ..USUAL
        },
    ),
    (
        "grok-3",
        Known {
            stop: false,
            ..TEXT_ONLY
        },
    ),
    ("deepseek-r1", PLAIN),
    ("deepseek-reasoner", THINKING),
    ("deepseek-v3.2", THINKING),
    ("deepseek", TEXT_ONLY),
    (
        "kimi-k2.5",
        Known {
            reasoning_back: true,
            ..USUAL
        },
    ),
    ("kimi-k2", THINKING),
    ("minimax-m2", THINKING),
    (
        "glm-4.5v",
        Known {
            reasoning_back: true,
            ..USUAL
        },
    ),
    (
        "glm-4.6v",
        Known {
            reasoning_back: true,
            ..USUAL
        },
    ),
    ("glm-4", THINKING),
    ("glm-5", THINKING),
    ("qwen3-coder", TEXT_ONLY),
    ("qwen2.5-coder", TEXT_ONLY),
    ("codellama", PLAIN),
    ("llama2", PLAIN),
    ("llama-2", PLAIN),
    ("gpt2", PLAIN),
    ("gpt-2", PLAIN),
    ("smollm", PLAIN),
    ("phi-2", PLAIN),
    ("tinyllama", PLAIN),
    ("starcoder", PLAIN),
];

pub(crate) fn known(spec: &ModelSpec) -> Known {
    let name = spec
        .model
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let row = TABLE.iter().find(|(begin, _)| name.starts_with(begin));
    let mut known = row.map_or(USUAL, |(_, known)| *known);
    match spec.provider {
        // The helper has a grammar for schemas, and neither tools nor pictures.
        Provider::Local => {
            known = Known {
                schema: true,
                ..PLAIN
            };
        }
        // The mocks do as they are told.
        Provider::Mock => known = USUAL,
        // OpenRouter and LiteLLM hand them on.
        Provider::Compatible => known.cache_marks = name.contains("claude"),
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => {}
    }
    if let Some(native) = spec.settings.native_tool_calling {
        known.tools = native;
    }
    if spec.settings.disable_vision {
        known.vision = false;
    }
    if spec.settings.disable_stop_word {
        known.stop = false;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample::spec;

    fn of(provider: Provider, model: &str) -> Known {
        known(&spec(provider, model))
    }

    #[test]
    fn the_most_exact_row_comes_first() {
        for (nth, (name, _)) in TABLE.iter().enumerate() {
            let earlier = TABLE.iter().take(nth);
            let hidden = earlier.clone().find(|(begin, _)| name.starts_with(begin));
            assert_eq!(hidden.map(|(begin, _)| begin), None, "hides {name}");
        }
    }

    #[test]
    fn names_are_found_behind_folders_and_unknown_ones_can_do_everything() {
        assert!(!of(Provider::OpenAi, "o3-2025-04-16").sampling);
        assert!(!of(Provider::OpenAi, "gpt-5-mini").stop);
        assert!(of(Provider::OpenAi, "gpt-4o").sampling);
        assert!(of(Provider::OpenAi, "gpt-5-chat-latest").sampling);
        assert!(!of(Provider::Compatible, "openai/o4-mini").sampling);
        assert!(!of(Provider::Compatible, "meta-llama/Llama-2-7b-chat-hf").tools);
        assert_eq!(of(Provider::Compatible, "somebody/new"), USUAL);
        assert!(of(Provider::Compatible, "anthropic/claude-sonnet-4.5").cache_marks);
        assert_eq!(
            of(Provider::OpenAi, "computer-use-preview").computer,
            Computer::Preview
        );
        assert_eq!(of(Provider::OpenAi, "gpt-5.4").computer, Computer::Batched);
    }

    #[test]
    fn the_configuration_knows_better() {
        let mut spec = spec(Provider::Compatible, "llama2");
        spec.settings.native_tool_calling = Some(true);
        assert!(known(&spec).tools);
        spec.settings.disable_vision = true;
        spec.settings.disable_stop_word = true;
        assert!(!known(&spec).vision && !known(&spec).stop);
    }
}
