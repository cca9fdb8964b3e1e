//! Every page and flow in a real Chromium.

mod accessible;
mod broken;
mod compare;
mod export;
mod hostile;
mod live;
mod realtime;
mod resumed;
mod review;
mod run;
mod run_live;
mod run_trials;
mod runs;
mod screens;
pub(crate) mod stand;
mod table;
mod told;
mod transcript;
mod trial;
mod who;
mod words;
