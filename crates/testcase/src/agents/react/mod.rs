//! `react`: any model that sees. It answers with one JSON object: what it thinks, then one action.

mod answer;
mod manner;

pub(super) use manner::React;
