//! For tests and benches alone: a real browser, and run folders of any size. Nothing that ships uses it.

mod browser;
mod clock;
mod desktop_trial;
mod driver;
mod painting;
mod runs;

pub use browser::{Browser, Trouble};
pub use clock::HandClock;
pub use desktop_trial::{DesktopTrial, long_trial};
pub use painting::{painted, rectangles};
pub use runs::{GeneratedRun, many_trials};
