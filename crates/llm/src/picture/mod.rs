//! Pictures as providers take them: scaled to their limits, with the way back kept for points that a
//! model answers with. Knows sizes and bytes, not what is to be seen.

mod fit;
mod header;
mod limits;
mod look;
mod mapping;

pub(crate) use fit::base64;
pub use fit::{Fitted, PictureError, fit, fit_request, pictures};
pub use limits::Limits;
pub use look::look;
pub use mapping::Mapping;

#[cfg(test)]
mod tests;
