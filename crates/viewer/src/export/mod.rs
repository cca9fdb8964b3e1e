//! The static site.

mod bundle;
mod folder;
mod pictures;
mod site;
mod trial;

pub use site::{ExportProgress, Exported, export};
