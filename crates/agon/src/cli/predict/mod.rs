//! `agon predict`: a model is asked for actions, and its answers are scored. A suite like any other.

mod args;
mod choice;
mod command;

pub(super) use args::PredictArgs;
pub(super) use choice::is_prediction;
pub(super) use command::predict;
