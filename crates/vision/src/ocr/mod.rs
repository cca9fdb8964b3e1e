//! Text in pictures: found (detection), read (recognition), put in order. Knows two ways to read, the
//! models and the program `tesseract`, and gives the same kind of lines for both.

mod boxes;
mod decode;
mod detection;
mod error;
pub(crate) mod line;
mod reader;
mod recognition;
mod tesseract;

pub use error::OcrError;
pub use line::Line;
pub use reader::{Engine, Reader};
