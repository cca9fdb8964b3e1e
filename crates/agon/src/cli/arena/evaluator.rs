//! `agon arena evaluator`: an evaluator behind a server.

use agon_arena::{EvaluatorServer, evaluators};

use super::agent::{options, until_interrupted};
use super::args::EvaluatorArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

pub(super) fn serve(args: &EvaluatorArgs) -> Result<Exit, Failure> {
    let evaluator = evaluators::find(&args.evaluator).map_err(Failure::new)?;
    let options = options(&args.host, args.port, &args.desktop)?;
    let server = EvaluatorServer::start(evaluator, &options, args.report.clone())?;
    until_interrupted(server, "evaluator")
}
