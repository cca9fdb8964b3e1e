//! `openai-computer-use`: a model that uses OpenAI's computer tool.

mod manner;

pub(super) use manner::OpenAi;
