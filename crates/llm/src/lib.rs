//! The one way in which Agon talks to language models: configuration, providers, retries, usage and
//! money, tapes, and a gateway for agents that bring their own client. Knows no task and no agent.

pub mod account;
mod blot;
mod client;
pub mod config;
pub mod control_token;
mod error;
mod estimate;
pub mod gateway;
mod key;
pub mod local;
mod message;
mod mock;
pub mod picture;
mod plain_http;
pub mod price;
mod reply;
mod request;
mod spec;
pub mod tape;
pub mod wire;

pub use account::{Account, Budget, CallRecord};
pub use blot::KeySearch;
pub use client::{Bounds, Delta, Model, Pace, RealPace, Session, SessionOptions};
pub use error::LlmError;
pub use key::{Key, Scrubber};
pub use message::{Image, MediaType, Message, Part, Reasoning, Role, ToolCall, ToolResult};
pub use plain_http::plain_http;
pub use price::Prices;
pub use reply::{Reply, Stop};
pub use request::{AnswerKey, Output, Request, Sampling, Tool, ToolChoice};
pub use spec::{ModelSpec, Provider, Settings, Wire};
