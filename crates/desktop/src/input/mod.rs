//! Keyboard and mouse of a desktop, driven through XTest.

mod board;
mod held;
mod keyboard;
mod layout;
mod mouse;
mod path;
mod repeat;
mod seat;
mod settle;
mod spare;
mod typing;
mod window_manager;

pub use keyboard::{HOLD, Keyboard, KeyboardState};
pub use mouse::{Mouse, MouseState};
pub use typing::LONGEST_TEXT;

pub(crate) use seat::Seat;
