//! Which command of `agon llm` it is.

use super::args::LlmCommand;
use super::{ask, check, install, list};
use crate::cli::entry::in_runtime;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

pub(in crate::cli) fn llm(command: LlmCommand) -> Result<Exit, Failure> {
    match command {
        LlmCommand::List(args) => list::list(&args),
        LlmCommand::Ask(args) => in_runtime(ask::ask(&args)),
        LlmCommand::Check(args) => in_runtime(check::check(&args)),
        LlmCommand::Install(args) => install::install(&args),
    }
}
