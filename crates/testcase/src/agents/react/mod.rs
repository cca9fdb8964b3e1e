//! `react`: any model that sees. It answers with one JSON object: what it thinks, then one action.

mod answer;
mod kind;
mod manner;

pub(super) use kind::{KIND, WITH_OPTIONS};
#[cfg(test)]
pub(super) use manner::React;
