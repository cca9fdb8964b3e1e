//! Task folders of Harbor (and of Terminal-Bench 2): `task.toml`, `instruction.md`, `environment/`,
//! `tests/` and `solution/`. They are written for other systems too, so keys that mean nothing here are
//! told and not refused.

mod image;
mod load;
mod settings;

pub(crate) use load::{find, load};
