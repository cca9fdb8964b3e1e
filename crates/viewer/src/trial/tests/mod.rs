//! Records of every kind, read as pages read them.

mod broken;
mod fixture;
mod growing;
mod stepping;
mod tracks;
