//! The names under which the agents are entered: one line each.

use agon_agent::Kind;

use super::{anthropic, openai, qwen, react};

/// Kinds that `--agent` takes beside those of other crates.
pub static KINDS: &[Kind] = &[
    react::KIND,
    react::WITH_OPTIONS,
    qwen::KIND,
    qwen::WITH_OPTIONS,
    openai::KIND,
    openai::WITH_OPTIONS,
    anthropic::KIND,
    anthropic::WITH_OPTIONS,
];
