//! Agent and Evaluator as servers that play and judge in real time, their clients, and all the ways to
//! run them together. Speaks the wire of seed 000.

pub mod agent_server;
pub mod child;
pub mod client;
pub mod constants;
pub mod env_lock;
pub mod error;
pub mod evaluator;
pub mod evaluator_server;
pub mod evaluators;
pub mod frame;
pub mod judging;
pub mod report;
pub mod result;
pub mod server;
pub mod wire;

pub use agent_server::{AgentExt, AgentServer};
pub use agon_agent::play::{
    AsyncPlayer as AsyncAgent, Asynchronous, Flow, Play, PlayError, Player as Agent, StopEvent,
    Task, World,
};
pub use agon_desktop::Vk as VK;
pub use agon_desktop::registry::{CALLABLES, LISTENERS, RUNNABLES, activate_module};
pub use child::ProcessAgent;
pub use client::{
    ClientOptions, Evaluation, PairOptions, Pairing, run_evaluation_client,
    run_evaluation_client_async, run_evaluation_client_with_server,
    run_evaluation_client_with_server_parallel,
};
pub use constants::{NETWORK, TIMES};
pub use env_lock::env_lock;
pub use error::ArenaError;
pub use evaluator::{Evaluator, JudgeError};
pub use evaluator_server::{EvaluatorExt, EvaluatorServer, EvaluatorState};
pub use frame::get_current_frame_base64;
pub use judging::Judging;
pub use report::{Asked, Record, Report, Times};
pub use result::{EvaluationResult, StopReason};
pub use server::{Server, ServerOptions};
pub use wire::Token;
