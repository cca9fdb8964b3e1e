//! Why nothing could be read.

use crate::models::ModelError;
use crate::program::ProgramError;

#[derive(Debug, thiserror::Error)]
pub enum OcrError {
    #[error("{0}, or install tesseract-ocr")]
    NoEngine(ModelError),
    #[error(transparent)]
    Models(#[from] ModelError),
    #[error("the model can't be used: {0}")]
    Load(String),
    #[error("reading text failed: {0}")]
    Run(String),
    /// Also when the time was over before everything was read.
    #[error("too much text to read; name a region")]
    TooMuch,
    #[error("a picture of {width}x{height} is too large to be read: name a region")]
    TooLarge { width: u32, height: u32 },
    #[error(transparent)]
    Program(#[from] ProgramError),
}
