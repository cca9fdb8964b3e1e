//! Keys by every name that people give them: X, Windows, pyautogui, xdotool, single characters.
//! Pure: knows nothing of a connection or of a layout.

mod combination;
mod names;
mod numbers;
mod spoken;
mod symbol;
mod usual;
mod vk;

pub use combination::{KeyCombination, LONGEST_TEXT, MOST_COMBINATIONS, MOST_KEYS};
pub use symbol::Key;
pub use vk::Vk;
