//! The evaluators that come with the arena, by name. A new one is one new file and one line in
//! `registry.rs`.

mod asking;
mod hexagon;
mod look;
mod models;
mod plan;
mod questions;
mod registry;
mod screen;
mod timer;
mod vision;

pub use hexagon::Hexagon;
pub use models::{Models, ModelsError};
pub use registry::{EVALUATORS, Kind, NoSuchEvaluator, find, kind};
pub use screen::Screen;
pub use timer::Timer;
pub use vision::Vision;
