//! Golden bodies per feature, answers and streams as the service gives them, and the gateway's side.

mod answers;
mod gateway;
mod golden;
mod streams;
