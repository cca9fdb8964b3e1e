//! `agon arena evaluator`: an evaluator behind a server.

use agon_arena::EvaluatorServer;

use super::agent::{options, until_interrupted};
use super::args::EvaluatorArgs;
use super::judge::Judges;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

pub(super) fn serve(args: &EvaluatorArgs) -> Result<Exit, Failure> {
    let judges = Judges::open(&args.evaluator, &args.judge)?;
    let evaluator = judges.make().map_err(Failure::new)?;
    let options = options(&args.host, args.port, &args.desktop)?;
    let server = EvaluatorServer::start(evaluator, &options, args.report.clone())?;
    until_interrupted(server, "evaluator")
}
