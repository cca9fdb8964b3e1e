//! Why a command did nothing: shown once, with what to do about it, as exit status 2.

use std::fmt;

use miette::{Diagnostic, MietteHandlerOpts, ReportHandler};

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
            Self::Text(_) => format!("agon: {self}"),
            Self::Reports(reports) => reports
                .iter()
                .map(|report| shown(report.as_ref()))
                .collect(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Reports(reports) => {
                let texts: Vec<_> = reports.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join("; "))
            }
        }
    }
}

/// What stands for several is told after them, where it is seen.
fn shown(diagnostic: &dyn Diagnostic) -> String {
    match diagnostic.related() {
        None => Drawn(diagnostic).to_string(),
        Some(parts) => {
            let mut text: String = parts.map(|part| format!("{}\n", Drawn(part))).collect();
            text += &format!("agon: {diagnostic}\n");
            text
        }
    }
}

/// With the place in the file. Messages name their causes themselves.
struct Drawn<'a>(&'a dyn Diagnostic);

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drawer = MietteHandlerOpts::new().without_cause_chain().build();
        drawer.debug(self.0, f)
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
    agon_arena::ArenaError,
    agon_desktop::DesktopError,
    agon_engine::RunError,
    agon_llm::LlmError,
    agon_llm::config::ConfigError,
    agon_report::ReportError,
    agon_sandbox::SandboxError,
    agon_store::StoreError,
    agon_testcase::results::ResultsError,
    agon_viewer::ViewerError,
    agon_workflow::controller::ControllerError,
    agon_workflow::eval::EvalFileError,
    agon_workflow::runtime::RuntimeError,
    serde_json::Error,
    std::io::Error,
);
