//! Asks models: one session per process, one handle per model. Everything that is sent goes through here.

mod call;
mod entry;
mod exchange;
mod limiter;
mod log;
mod model;
mod pace;
mod retry;
mod session;
mod sse;
mod transport;
mod tries;
mod unsupported;
mod weight;

pub use model::{Delta, Model};
pub use pace::{Bounds, Pace, RealPace};
pub use session::{Session, SessionOptions};
pub(crate) use weight::values;
