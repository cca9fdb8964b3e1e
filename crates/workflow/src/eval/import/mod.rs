//! Old result files as runs of Agon's, so that they can be reported and compared with others.

mod calls;
mod find;
mod places;
#[cfg(test)]
mod round_trip;
mod row;
mod score;
mod stamps;
#[cfg(test)]
mod tests;

pub use find::{Imported, Imports, import};
