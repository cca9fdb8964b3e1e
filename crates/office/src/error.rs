//! Why a file could not be read. All of these are about the file, none about the machine.

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OfficeError {
    /// Another kind of file; says which, where that can be told.
    #[error("it is {0}")]
    Other(&'static str),
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// Larger than is read from files of unknown origin.
    #[error("it is too large to be read: {0}")]
    TooLarge(&'static str),
    /// The deadline came first: files that people make are read in no time.
    #[error("reading it takes too long")]
    TooSlow,
}

impl OfficeError {
    pub(crate) fn damaged(why: impl std::fmt::Display) -> Self {
        Self::Damaged(why.to_string())
    }
}
