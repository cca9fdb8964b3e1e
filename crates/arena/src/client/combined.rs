//! Agent, evaluator and client in one process: the simplest way to run an evaluation.

use std::any::Any;
use std::path::PathBuf;

use agon_agent::play::{Player, Task};
use tokio_util::sync::CancellationToken;

use super::evaluation::{ClientOptions, Evaluation, blocking, run_evaluation_client_async};
use crate::agent_server::AgentServer;
use crate::constants::NETWORK;
use crate::error::ArenaError;
use crate::evaluator::Evaluator;
use crate::evaluator_server::EvaluatorServer;
use crate::server::{Server, ServerOptions};

/// Where both servers listen, and what they see.
#[derive(Debug, Clone)]
pub struct PairOptions {
    pub agent: ServerOptions,
    pub evaluator: ServerOptions,
    pub report: Option<PathBuf>,
}

impl Default for PairOptions {
    fn default() -> Self {
        Self {
            agent: ServerOptions::at(NETWORK::DEFAULT_HOST, NETWORK::AGENT_PORT),
            evaluator: ServerOptions::at(NETWORK::DEFAULT_HOST, NETWORK::EVALUATOR_PORT),
            report: None,
        }
    }
}

/// Who plays and judges, and where.
pub struct Pairing {
    pub agent: Box<dyn Player>,
    pub evaluator: Box<dyn Evaluator>,
    pub options: PairOptions,
    /// Held until the tasks are over: a desktop, the programs on it.
    pub held: Box<dyn Any + Send>,
}

impl std::fmt::Debug for Pairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairing")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Pairing {
    /// Starts both servers, has the tasks evaluated, and stops the servers. `each` sees every evaluation
    /// as it ends; cancelled, the current task is aborted and scored.
    pub async fn evaluate(
        self,
        tasks: impl IntoIterator<Item = Task>,
        stop: &CancellationToken,
        each: impl FnMut(&Evaluation),
    ) -> Result<Vec<Evaluation>, ArenaError> {
        // Each shows its own to the other, and the client has one for both.
        if self.options.agent.token != self.options.evaluator.token {
            return Err(ArenaError::Unsupported(
                "the servers of a pair need the same token: set it in both of their options",
            ));
        }
        let options = ClientOptions {
            token: self.options.agent.token.clone(),
            ..ClientOptions::default()
        };
        let pair = aside(move || self.start()).await??;
        let (agent, evaluator) = (pair.agent.url(), pair.evaluator.url());
        let done = run_evaluation_client_async(agent, evaluator, tasks, &options, stop, each).await;
        // What is still played ends first; that takes a moment.
        aside(move || drop(pair)).await?;
        done
    }

    fn start(self) -> Result<Pair, ArenaError> {
        Ok(Pair {
            agent: AgentServer::start_only(self.agent, &self.options.agent)?,
            evaluator: EvaluatorServer::start(
                self.evaluator,
                &self.options.evaluator,
                self.options.report,
            )?,
            _held: self.held,
        })
    }
}

/// Dropped in this order: nobody judges an agent that is gone.
struct Pair {
    evaluator: Server,
    agent: Server,
    _held: Box<dyn Any + Send>,
}

/// Runs what may block where it may.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ArenaError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ArenaError::Runtime(std::io::Error::other(error)))
}

/// Starts both servers, has the tasks evaluated, and stops the servers.
pub fn run_evaluation_client_with_server(
    agent: impl Player + 'static,
    evaluator: impl Evaluator,
    tasks: impl IntoIterator<Item = Task>,
    options: &PairOptions,
) -> Result<Vec<Evaluation>, ArenaError> {
    let pairing = Pairing {
        agent: Box::new(agent),
        evaluator: Box::new(evaluator),
        options: options.clone(),
        held: Box::new(()),
    };
    blocking(pairing.evaluate(tasks, &CancellationToken::new(), |_| {}))
}
