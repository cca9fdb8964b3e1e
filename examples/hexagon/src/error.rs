//! What can keep the game from being played.

use std::io;
use std::path::PathBuf;

use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};

#[derive(Debug, thiserror::Error)]
pub enum HexagonError {
    #[error("can't reach a display: {0}; set DISPLAY, and XAUTHORITY where it asks for a cookie")]
    Connect(#[from] ConnectError),
    /// The X server is gone, or has cut us off.
    #[error("the display is gone: {0}")]
    Gone(#[from] ConnectionError),
    #[error("the display refused: {0}")]
    Refused(String),
    #[error(
        "the display has no 32-bit pixels in the order of red, green and blue; use one of 24 bit depth"
    )]
    Colours,
    #[error("can't write scores to {}: {source}", path.display())]
    Scores { path: PathBuf, source: io::Error },
    #[error("can't wait for the display: {0}")]
    Wait(io::Error),
}

impl From<ReplyError> for HexagonError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => Self::Gone(error),
            ReplyError::X11Error(error) => Self::Refused(format!("{error:?}")),
        }
    }
}

impl From<ReplyOrIdError> for HexagonError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::ConnectionError(error) => Self::Gone(error),
            ReplyOrIdError::X11Error(error) => Self::Refused(format!("{error:?}")),
            ReplyOrIdError::IdsExhausted => Self::Refused("it has no more ids".to_owned()),
        }
    }
}
