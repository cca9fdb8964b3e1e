//! `/api`: everything that the pages show, as JSON.

mod description;
mod feed;
mod orders;
mod runs;
mod table;
mod trials;

pub(crate) use feed::feed;
pub(crate) use table::{DESCRIPTION, Does, Parameter, ROUTES};
