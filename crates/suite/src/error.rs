//! What is wrong with a suite. Every error knows its place; all of them are reported at once.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::source::NodeError;

/// Something in the text of a file.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct TextError {
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    source_code: NamedSource<Arc<String>>,
    #[label("here")]
    span: SourceSpan,
    place: String,
}

#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum SuiteError {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Text(Box<TextError>),
    /// Something about the files themselves.
    #[error("{}: {message}", path.display())]
    Layout {
        path: PathBuf,
        message: String,
        #[help]
        help: Option<String>,
    },
    #[error("can't read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl SuiteError {
    pub(crate) fn layout(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Layout {
            path: path.into(),
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn layout_help(
        path: impl Into<PathBuf>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::Layout {
            path: path.into(),
            message: message.into(),
            help: Some(help.into()),
        }
    }

    pub(crate) fn unreadable(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Unreadable {
            path: path.into(),
            source,
        }
    }

    /// The error in one line, with its place.
    pub fn line(&self) -> String {
        match self {
            Self::Text(error) => format!("{}: {error}", error.place),
            Self::Layout { .. } | Self::Unreadable { .. } => self.to_string(),
        }
    }

    /// Where the error is: `file:line:column`, or the path.
    pub fn place(&self) -> String {
        match self {
            Self::Text(error) => error.place.clone(),
            Self::Layout { path, .. } | Self::Unreadable { path, .. } => path.display().to_string(),
        }
    }
}

/// The text of a file that errors point into.
#[derive(Debug, Clone)]
pub(crate) struct SourceText {
    name: String,
    text: Arc<String>,
}

impl SourceText {
    pub(crate) fn new(name: String, text: String) -> Self {
        Self {
            name,
            text: Arc::new(text),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The line of a place, from 1.
    pub(crate) fn line(&self, start: usize) -> usize {
        let before = self.text.get(..start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    pub(crate) fn error(&self, error: NodeError) -> SuiteError {
        let (start, end) = error.span.map_or((0, 0), |span| (span.start, span.end));
        let before = self.text.get(..start).unwrap_or_default();
        let line = self.line(start);
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        SuiteError::Text(Box::new(TextError {
            message: error.message,
            help: error.help,
            source_code: NamedSource::new(&self.name, Arc::clone(&self.text)),
            span: (start, end.saturating_sub(start)).into(),
            place: format!("{}:{line}:{column}", self.name),
        }))
    }
}

/// Everything that is wrong with a suite: never empty.
#[derive(Debug, Diagnostic)]
pub struct SuiteErrors {
    suite: PathBuf,
    #[related]
    errors: Vec<SuiteError>,
}

impl SuiteErrors {
    pub(crate) fn new(suite: impl Into<PathBuf>, errors: Vec<SuiteError>) -> Self {
        Self {
            suite: suite.into(),
            errors,
        }
    }

    pub fn errors(&self) -> &[SuiteError] {
        &self.errors
    }
}

impl std::error::Error for SuiteErrors {}

impl fmt::Display for SuiteErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.errors.len();
        let noun = if count == 1 { "error" } else { "errors" };
        write!(f, "{count} {noun} in suite {}", self.suite.display())
    }
}
