//! A local web app on run folders: runs, trials step by step, live screens, comparisons, reviews by
//! hand. Reads what `store` keeps and what `report` adds up; the only things that it writes to a run
//! folder are reviews and orders. Knows nothing of how a trial is played.

mod api;
mod assets;
mod blobs;
mod compare;
mod error;
mod export;
mod index;
mod library;
mod live;
mod overview;
mod pages;
mod serve;
pub mod shape;
mod thumbs;
mod trial;
mod visible;

pub use error::ViewerError;
pub use export::{ExportProgress, Exported, export};
pub use library::{Library, Run};
pub use serve::{Served, Viewer, ViewerOptions};
