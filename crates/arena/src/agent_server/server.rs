//! The ways to put an agent behind a server.

use std::sync::Arc;

use agon_agent::play::{PlayConfig, Player, Stop, Task};
use agon_core::Seed;

use super::agents::Agents;
use super::control::Control;
use super::handlers::routes;
use super::runner::{Outcome, Runner, StepsOver};
use super::teller::Teller;
use crate::child::{Child, ProcessAgent};
use crate::error::ArenaError;
use crate::server::{Server, ServerOptions, Service};

/// Starts servers that play.
#[derive(Debug)]
pub struct AgentServer;

impl AgentServer {
    /// Agents that can be made anew: a stuck one is left behind by `kill`.
    pub fn start(
        make: impl Fn() -> Box<dyn Player> + Send + Sync + 'static,
        options: &ServerOptions,
    ) -> Result<Server, ArenaError> {
        let local = Local::new(Agents::made_by(make), options)?;
        Self::start_with(Box::new(local), options)
    }

    /// The only one of its kind: see [`AgentExt::run_background`].
    pub fn start_only(
        agent: Box<dyn Player>,
        options: &ServerOptions,
    ) -> Result<Server, ArenaError> {
        let local = Local::new(Agents::only(agent), options)?;
        Self::start_with(Box::new(local), options)
    }

    /// An agent in a process of its own, which `kill` really ends.
    pub fn start_process(
        agent: ProcessAgent,
        options: &ServerOptions,
    ) -> Result<Server, ArenaError> {
        let child = Child::new(agent, options)?;
        Self::start_with(Box::new(child), options)
    }

    fn start_with(runner: Box<dyn Runner>, options: &ServerOptions) -> Result<Server, ArenaError> {
        let teller = Teller::new(options.token.clone())?;
        Server::start(options, |runtime| {
            let control = Control::new(Arc::from(runner), teller, runtime.clone());
            Ok(Service {
                router: routes(Arc::clone(&control), options.token.clone()),
                end: Box::new(move || control.end()),
            })
        })
    }
}

/// The seed's way: an agent that is its own server.
pub trait AgentExt: Player + Sized + 'static {
    /// Serves until interrupted.
    fn run(self, host: &str, port: u16) -> Result<(), ArenaError> {
        self.run_background(host, port)?.serve_until_interrupted()
    }

    /// Serves until what is returned is dropped. A stuck agent is cut off by `kill`, but as there is
    /// only one of it the state is STOPPING until it comes back.
    fn run_background(self, host: &str, port: u16) -> Result<Server, ArenaError> {
        self.serve(&ServerOptions::at(host, port))
    }

    /// The same with all options.
    fn serve(self, options: &ServerOptions) -> Result<Server, ArenaError> {
        AgentServer::start_only(Box::new(self), options)
    }
}

impl<A: Player + Sized + 'static> AgentExt for A {}

/// Agents in this process, on the desktop of the server.
struct Local {
    agents: Agents,
    config: PlayConfig,
}

impl Local {
    fn new(agents: Agents, options: &ServerOptions) -> Result<Self, ArenaError> {
        let config = PlayConfig {
            clock: options.clock,
            world: options.world.clone(),
            panic_key: options.panic_key,
            ..PlayConfig::new(options.display()?)
        };
        Ok(Self { agents, config })
    }
}

impl Runner for Local {
    fn play(&self, task: &Task, stop: &Stop, steps_over: StepsOver) -> Outcome {
        let config = PlayConfig {
            seed: seed_of(task),
            frames: task.num_frames,
            ..self.config.clone()
        };
        self.agents.play(&config, task, stop, steps_over)
    }

    fn abandon(&self, stop: &Stop) {
        self.agents.abandon(stop);
    }
}

/// The same task is played with the same seed.
pub(crate) fn seed_of(task: &Task) -> u64 {
    Seed(0).derive(&task.task_id).0
}
