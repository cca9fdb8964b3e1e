//! Tasks whose world moves on by itself. An agent plays them in real time, or takes turns as well as it
//! can; meanwhile the screen is judged, and the play is over when the world is.

mod beginning;
mod brake;
mod bridge;
mod film;
mod judge;
mod play;
mod player;
mod reactions;
mod reports;
mod world;

pub(crate) use play::{Ground, take};
