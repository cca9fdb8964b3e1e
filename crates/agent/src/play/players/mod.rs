//! The players that come with Agon, each by its name. A new one is one file and one line in `list.rs`.

mod contender;
pub mod hexagon;
mod list;
mod noop;
mod one_key;
mod random_keys;

pub(crate) use contender::{HEXAGON, ONE_KEY, RANDOM_KEYS};
pub use list::{Maker, PLAYERS, PlayerKind, find, maker};
