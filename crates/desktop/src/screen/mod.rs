//! The screen: captured, encoded, scaled, watched and streamed. Knows nothing of input and windows
//! beyond their numbers.

mod capture;
mod change;
mod cursor;
mod encode;
mod frame;
mod handle;
mod mapping;
mod rest;
mod scale;
mod segments;
mod stream;
mod waits;

pub(crate) use capture::Capturer;
pub use capture::{CaptureOptions, Way};
pub use encode::PictureFormat;
pub use frame::Frame;
pub use handle::Screen;
pub use mapping::Mapping;
pub use rest::{Rest, Settle, Watch};
pub use scale::Scaled;
pub use stream::{FrameStream, StreamConfig};
