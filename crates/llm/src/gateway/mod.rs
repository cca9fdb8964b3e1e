//! An endpoint for agents that bring their own client: OpenAI- and Anthropic-compatible, per trial. Keys
//! stay on our side; budgets, tapes and the list of models apply; every call is booked on the trial's
//! account. Whatever comes in is hostile.

mod accept;
mod allowed;
mod betas;
mod desk;
mod environment;
mod fault;
mod gate;
mod intake;
mod keys;
mod outlet;
mod question;
mod reach;
mod route;
mod said;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use gate::{At, Gateway, GatewayOptions};
