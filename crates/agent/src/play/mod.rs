//! Agents that play in real time: the contract, what they are given, and the loop that drives them.

mod act;
mod agenda;
mod asynchronous;
mod config;
mod context;
mod contract;
mod core;
mod input;
mod pace;
mod plan;
pub mod players;
mod playing;
mod run;
mod stats;
mod stop;
mod task;
mod window;
mod world;

pub use asynchronous::{AsyncPlayer, Asynchronous};
pub use config::PlayConfig;
pub use context::Play;
pub use contract::{Flow, PlayError, Player};
pub use input::{PlayKeyboard, PlayMouse};
pub use playing::{PlayEnd, Played, Playing};
pub use run::{Prepared, prepare, start};
pub use stats::Answer;
pub use stop::{Cause, Stop, StopEvent};
pub use task::Task;
pub use window::PlayWindow;
pub use world::World;
