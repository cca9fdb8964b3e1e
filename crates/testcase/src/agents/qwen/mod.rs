//! `qwen`: the Qwen models that see, with the `computer_use` function that they are taught, called in text.

mod manner;

pub(super) use manner::Qwen;
