//! The agent against a model that says what a script tells it.

mod condensers;
mod conversation;
mod failures;
mod past;
mod play;
mod replay;
mod shapes;
