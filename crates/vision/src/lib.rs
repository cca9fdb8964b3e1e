//! Pictures read without a model service: text and numbers (OCR), pixels, changed regions, templates.
//! Knows pictures only: not where they come from, nor what is made of what was read.

pub mod compare;
pub mod image;
pub mod models;
pub mod number;
pub mod ocr;
pub mod package;
pub mod pixel;
mod program;
mod scale;
mod shrink;
pub mod template;

pub use image::{Image, ImageError};
pub use ocr::{Line, OcrError, Reader};
