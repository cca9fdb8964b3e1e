//! `<category>/<id>.json` of OSUniverse: written from a run folder, and read into one.

mod action;
mod book;
mod bounded;
mod case;
mod checks;
mod error;
mod files;
mod find;
mod import;
mod imported;
mod kept;
mod picture;
mod python;
mod schema;
mod told;

pub use book::{Book, Cases, cases};
pub use case::NO_SETUP;
pub(crate) use checks::commands;
pub use error::ResultsError;
pub use files::{Exported, export, fit, refresh, write_one};
pub use find::{Foreign, Scores, foreign, is_results, make_room};
pub use import::{IMPORTED, Imported, import};
pub(crate) use picture::is_png;
pub use schema::{
    CheckRow, CommandOutput, MOST_OF_A_FILE, MOST_STEPS, NO_ANSWER, NO_SCORE, Step, TestCase,
    TestCaseRun,
};
pub(crate) use told::{Teller, delivered};

#[cfg(test)]
mod tests;
