//! Which command does what.

use agon_arena::child;

use super::args::ArenaCommand;
use super::{agent, client, evaluator, run, show};
use crate::cli::entry::in_runtime;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

pub(in crate::cli) fn arena(command: ArenaCommand) -> Result<Exit, Failure> {
    match command {
        ArenaCommand::Agent(args) if child::is_child() => agent::play(&args),
        ArenaCommand::Agent(args) => agent::serve(&args),
        ArenaCommand::Evaluator(args) => evaluator::serve(&args),
        ArenaCommand::Client(args) => in_runtime(client::client(&args)),
        ArenaCommand::Run(args) => in_runtime(run::run(&args)),
        ArenaCommand::List(args) => show::list(&args),
    }
}
