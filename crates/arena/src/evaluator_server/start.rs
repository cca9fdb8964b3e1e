//! Starts evaluator servers, in each of the ways that users of the original know.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::desk::Desk;
use super::routes;
use crate::error::ArenaError;
use crate::evaluator::Evaluator;
use crate::report::Report;
use crate::result::StopReason;
use crate::server::{Server, ServerOptions, Service};
use crate::wire::call::client;

/// A server that ends waits so long until its task is scored and written down, and its agent at rest.
const LAST_SCORE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub enum EvaluatorServer {}

impl EvaluatorServer {
    /// In the background. Without a `report`, results go where the evaluator itself says, if anywhere.
    pub fn start(
        evaluator: impl Evaluator,
        options: &ServerOptions,
        report: Option<PathBuf>,
    ) -> Result<Server, ArenaError> {
        let report = report.or_else(|| evaluator.report()).map(Report::new);
        let client = client()?;
        Server::start(options, |runtime| {
            let desk = Arc::new(Desk::new(Arc::new(evaluator), report, options, client));
            let router = routes::router(&desk, options.token.clone());
            let runtime = runtime.clone();
            let end = Box::new(move || {
                if let Some(round) = desk.open_round() {
                    round.end(StopReason::Operator, "the server was stopped");
                }
                // Who is not done by then is left.
                runtime.block_on(desk.until_idle(LAST_SCORE));
            });
            Ok(Service { router, end })
        })
    }
}

/// Ways to run an evaluator.
pub trait EvaluatorExt: Evaluator + Sized {
    /// Serves until the process is interrupted.
    fn run(self, host: &str, port: u16) -> Result<(), ArenaError> {
        self.run_background(host, port)?.serve_until_interrupted()
    }

    /// Serves until what is given back is dropped; its `url` is where.
    fn run_background(self, host: &str, port: u16) -> Result<Server, ArenaError> {
        EvaluatorServer::start(self, &ServerOptions::at(host, port), None)
    }
}

impl<E: Evaluator> EvaluatorExt for E {}
