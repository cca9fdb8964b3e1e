//! `anthropic-computer-use`: a model that uses Anthropic's computer tool.

mod manner;

pub(super) use manner::Anthropic;
