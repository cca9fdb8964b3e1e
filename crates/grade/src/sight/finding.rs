//! What was found on a screen, or why nothing could be.

use agon_core::{Fault, FaultClass, Region};
use agon_vision::OcrError;

#[derive(Debug, Clone, PartialEq)]
pub struct SightFinding {
    pub holds: bool,
    /// What was found, in words: shown to people as it is.
    pub found: String,
    /// The number that was read.
    pub value: Option<f64>,
    /// Of that number, from 0 to 1.
    pub confidence: Option<f64>,
    /// Why it should not be believed.
    pub doubt: Option<String>,
}

impl SightFinding {
    pub(super) fn plain(holds: bool, found: impl Into<String>) -> Self {
        Self {
            holds,
            found: found.into(),
            value: None,
            confidence: None,
            doubt: None,
        }
    }
}

/// The question could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum SightError {
    #[error("text could not be read: {0}")]
    Ocr(#[from] OcrError),
    #[error("{0:?} is outside of the screen, which has {1}x{2}")]
    Outside(Region, u32, u32),
    #[error("there is no first screen to compare with")]
    NoFirst,
    #[error("the template verify/{path} can't be used: {why}")]
    Template { path: String, why: String },
    #[error("no app of the task has `{0}` in its command line")]
    NoApp(String),
    /// The test itself is no good.
    #[error("{0}")]
    Test(String),
}

impl From<SightError> for Fault {
    fn from(error: SightError) -> Self {
        Self::new(FaultClass::Check, error)
    }
}

impl SightError {
    /// From what tests of a text say of a broken one.
    pub(super) fn of_test(fault: Fault) -> Self {
        Self::Test(fault.message)
    }
}
