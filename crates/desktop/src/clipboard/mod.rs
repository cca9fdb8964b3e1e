//! The clipboard of a desktop: text that others copied, and text of ours for them to paste.

mod fetch;
mod offer;
mod owner;
mod serve;

pub use offer::Clipboard;
pub(crate) use offer::Offer;
