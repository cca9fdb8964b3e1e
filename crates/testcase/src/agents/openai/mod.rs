//! `openai-computer-use`: a model that uses OpenAI's computer tool.

mod kind;
mod manner;

pub(super) use kind::{KIND, WITH_OPTIONS};
