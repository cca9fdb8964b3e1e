//! Judges that are asked: by scripts, by tapes, and over HTTP.

mod asked;
mod faults;
mod fence;
mod orders;
pub(super) mod place;
mod service;
