//! The index of a run: a SQLite file outside of the run folder, derived from it, built again when it
//! does not fit any more.

mod counts;
mod error;
mod file;
mod intake;
mod lines;
mod marks;
mod open_trials;
mod query;
mod query_string;
mod refresh;
mod reviewed;
mod rows;
mod schema;
mod state;
mod underway;
mod unreviewed;
mod whole;

pub(crate) use counts::Counts;
pub(crate) use error::IndexError;
pub(crate) use file::{Index, remove, reset, sweep};
pub(crate) use lines::{LONGEST, for_each_line};
pub(crate) use marks::{Mark, Marks};
pub(crate) use query_string::{known_name, searched, switch, trial_query, unknown, word};
pub(crate) use schema::state_of;
pub(crate) use state::State;
pub(crate) use whole::Listed;
