//! Agents that ask a model through the gateway, from a sandbox without network.

#[path = "gateway/blame.rs"]
mod blame;
#[path = "gateway/ends.rs"]
mod ends;
#[path = "gateway/hostile.rs"]
mod hostile;
#[path = "gateway/secrets.rs"]
mod secrets;
#[path = "gateway/service.rs"]
mod service;
#[path = "gateway/solves.rs"]
mod solves;
#[path = "gateway/stage.rs"]
mod stage;
