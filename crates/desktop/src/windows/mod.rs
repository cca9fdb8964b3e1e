//! Windows of a desktop, as window managers tell of them (EWMH): found by title, made active, moved,
//! closed, waited for. Titles come from hostile programs.

mod activate;
mod asking;
mod change;
mod list;
mod text;
mod wait;
mod window;

pub(crate) use asking::{answers, ask, supports};
pub use list::Windows;
pub(crate) use list::{active, describe, stacked};
pub use window::WindowInfo;
