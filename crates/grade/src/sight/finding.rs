//! What was found on a screen, or why nothing could be.

use agon_core::{Fault, FaultClass, Region};
use agon_vision::template::TooLarge;
use agon_vision::{Line, OcrError};

#[derive(Debug, Clone, PartialEq)]
pub struct SightFinding {
    pub holds: bool,
    /// What was found, in words: shown to people as it is.
    pub found: String,
    /// The number that was read.
    pub value: Option<f64>,
    /// Of that number, from 0 to 1.
    pub confidence: Option<f64>,
    /// Why nobody knows: it was not read well enough to be believed.
    pub doubt: Option<String>,
    /// The agent could have made it so by other means than the task's.
    pub tainted: bool,
    /// Why it does not hold, whatever else was found.
    pub refused: Option<Refusal>,
}

/// What is on the screen can't count. Whoever draws there must not get away with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A number that can't be right, and why.
    Implausible(String),
    /// More than can be looked at, or of a size that can't be.
    TooMuch,
}

impl SightFinding {
    pub(super) fn plain(holds: bool, found: impl Into<String>) -> Self {
        Self {
            holds,
            found: found.into(),
            value: None,
            confidence: None,
            doubt: None,
            tainted: false,
            refused: None,
        }
    }

    pub fn too_much(found: impl Into<String>) -> Self {
        Self {
            refused: Some(Refusal::TooMuch),
            ..Self::plain(false, found)
        }
    }

    /// Why what was found should not be believed.
    pub fn disbelief(&self) -> Option<&str> {
        let refused = self.refused.as_ref().map(|refusal| match refusal {
            Refusal::Implausible(why) => why.as_str(),
            Refusal::TooMuch => self.found.as_str(),
        });
        self.doubt.as_deref().or(refused)
    }
}

/// What was read, or the finding that it was too much.
pub(super) fn read(
    lines: Result<Vec<Line>, OcrError>,
) -> Result<Result<Vec<Line>, SightFinding>, SightError> {
    match lines {
        Ok(lines) => Ok(Ok(lines)),
        Err(error @ OcrError::TooMuch) => Ok(Err(SightFinding::too_much(error.to_string()))),
        Err(error) => Err(error.into()),
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
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
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
    /// The screen does not have the size that the test needs.
    pub fn is_of_size(&self) -> bool {
        matches!(
            self,
            Self::Outside(..) | Self::TooLarge(_) | Self::Ocr(OcrError::TooLarge { .. })
        )
    }

    /// From what tests of a text say of a broken one.
    pub(super) fn of_test(fault: Fault) -> Self {
        Self::Test(fault.message)
    }
}
