//! The `mock/` models, which answer without any service: with bodies of chat completions, so that
//! everything behind them is the same as for a real one.

mod model;
mod script;

pub(crate) use model::Mock;
