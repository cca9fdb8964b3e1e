//! Why a command did nothing: shown once, with what to do about it, as exit status 2.

use std::fmt;

#[derive(Debug)]
pub(super) enum Failure {
    Text(String),
    /// Errors with places in files.
    Reports(Vec<miette::Report>),
}

impl Failure {
    pub(super) fn new(text: impl fmt::Display) -> Self {
        Self::Text(text.to_string())
    }

    pub(super) fn show(&self) -> String {
        match self {
            Self::Text(text) => format!("agon: {text}"),
            Self::Reports(reports) => reports
                .iter()
                .map(|report| format!("{report:?}"))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

macro_rules! failures {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(error)
            }
        })*
    };
}

failures!(
    agon_agent::SetupError,
    agon_engine::RunError,
    agon_report::ReportError,
    agon_sandbox::SandboxError,
    agon_store::StoreError,
    serde_json::Error,
    std::io::Error,
);
