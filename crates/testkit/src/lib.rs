//! For tests and benches alone: a real browser, and run folders of any size. Nothing that ships uses it.

mod browser;
mod chromium;
mod clock;
mod complaint;
mod desktop_trial;
mod devtools;
mod element;
mod key;
mod page;
mod painting;
mod runs;
mod trouble;

pub use browser::Browser;
pub use clock::HandClock;
pub use desktop_trial::{DesktopTrial, long_trial};
pub use painting::{painted, rectangles};
pub use runs::{GeneratedRun, many_trials};
pub use trouble::Trouble;
