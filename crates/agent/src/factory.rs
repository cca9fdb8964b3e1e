//! From a spec to agents: opened once per run, one agent per trial. This is all that the engine
//! needs to know of the agents there are.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use agon_core::{Digest, Limits, Seed, Task, TrialId};
use agon_llm::config::Config;
use agon_llm::{Account, Model, Session};
use agon_sandbox::{Owner, Provider};
use agon_store::AgentStamp;

use crate::bundle::Bundle;
use crate::contract::{Agent, AgentError};
use crate::elsewhere::Elsewhere;
use crate::error::SetupError;
use crate::play::Player;
use crate::spec::AgentSpec;

/// What agents may need from the outside, given once per run.
#[derive(Debug, Clone)]
pub struct Services {
    /// Sandboxes for `cmd:` agents.
    pub local: Arc<dyn Provider>,
    /// What the run itself reads and writes (suites, run folders, the configuration, tapes): no part of it is
    /// ever shown to an agent.
    pub hidden: Vec<PathBuf>,
    /// Globs of files beside a `cmd:` agent's program that belong to it, too.
    pub agent_files: Vec<String>,
    /// The run's models: the first is the one that agents of ours ask, and no other can be asked through
    /// the gateway.
    pub models: Vec<Model>,
    /// For agents that read their settings from the configuration.
    pub config: Option<Arc<Config>>,
    /// For agents that ask models beside the run's, which the configuration names.
    pub session: Option<Arc<Session>>,
}

/// One trial, as far as making its agent goes.
#[derive(Debug)]
pub struct TrialContext<'a> {
    pub task: &'a Task,
    pub trial: &'a TrialId,
    pub seed: Seed,
    /// Of the sandbox that the agent may get for itself.
    pub owner: Owner,
    pub limits: &'a Limits,
    /// Pays for the models that this trial asks, and keeps what was said for the record.
    pub account: Arc<Account>,
}

/// An agent entered for a whole run.
pub trait Contender: fmt::Debug + Send + Sync {
    /// Over the agent's own files.
    fn digest(&self) -> Option<Digest> {
        None
    }

    /// The files that it is made of, as far as they are known.
    fn bundle(&self) -> Option<&Bundle> {
        None
    }

    /// Runs outside of any sandbox.
    fn unconfined(&self) -> bool {
        false
    }

    /// Cheap: whatever takes time belongs into [`Agent::start`].
    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError>;

    /// Plays whole trials in an environment of its own; then nothing else here is asked for.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }

    /// The one who plays a real-time task; `None`: the agent takes turns.
    fn player(&self, _context: &TrialContext<'_>) -> Option<Box<dyn Player>> {
        None
    }
}

#[derive(Debug)]
pub struct AgentFactory {
    name: String,
    contender: Box<dyn Contender>,
}

impl AgentFactory {
    /// Looks at the world (program, folder, recorded run); blocks while it copies files.
    pub fn new(spec: &AgentSpec, services: &Services) -> Result<Self, SetupError> {
        let contender = (spec.kind().open)(spec.argument(), services)?;
        Ok(Self::of(spec.to_string(), contender))
    }

    /// An agent that is part of this program, not named by a spec.
    pub fn of(name: impl Into<String>, contender: Box<dyn Contender>) -> Self {
        Self {
            name: name.into(),
            contender,
        }
    }

    /// The agent's identity, for the manifest.
    pub fn stamp(&self) -> AgentStamp {
        AgentStamp {
            spec: self.name.clone(),
            digest: self.contender.digest(),
            unconfined: self.contender.unconfined(),
            files: self.bundle().map(|bundle| bundle.about().clone()),
        }
    }

    pub fn bundle(&self) -> Option<&Bundle> {
        self.contender.bundle()
    }

    pub fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        self.contender.for_trial(context)
    }

    pub fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        self.contender.elsewhere()
    }

    pub fn player(&self, context: &TrialContext<'_>) -> Option<Box<dyn Player>> {
        self.contender.player(context)
    }
}
