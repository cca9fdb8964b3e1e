//! Why an agent can't be used at all: found before the first trial, told to the user. What goes
//! wrong in a trial is [`crate::AgentError`].

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("no agent is called `{spec}`{}; there are: {known}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        spec: String,
        nearest: Option<String>,
        known: String,
    },
    #[error("agent `{spec}`: {why}")]
    Spec { spec: String, why: String },
    #[error(
        "the program `{program}` is not in the agent's sandbox (searched {searched}); install it \
         there, name a path in the agent's own folder, or run the agent unconfined with `cmd-host:`"
    )]
    NoProgram { program: String, searched: String },
    #[error("the agent's program text `{script}` is not there: paths start at the working folder")]
    NoScript { script: String },
    #[error("the agent's folder {} can't be shown to it: {why}", .folder.display())]
    Folder { folder: PathBuf, why: String },
    #[error(
        "the agent's command names {name}, which no agent is given: {why}; an agent asks models through Agon's \
         gateway and needs no key"
    )]
    Withheld { name: String, why: String },
    #[error("--agent-files {glob}: {why}")]
    AgentFiles { glob: String, why: String },
    #[error("the agent's folder can't be copied: {context}: {source}")]
    Copy { context: String, source: io::Error },
    #[error("the run to replay can't be read: {0}")]
    Replay(String),
    #[error("no HTTP client: {0}")]
    Client(String),
}

impl SetupError {
    pub(crate) fn copy(context: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let context = context.into();
        move |source| Self::Copy { context, source }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}
