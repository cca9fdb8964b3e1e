//! `cmd:PROGRAM ARGS`: any program, in a sandbox of its own: its folder read-only, no network, no
//! view of suite, run folder or home.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Brief, Digest, Environment, EnvironmentKind, Observation};
use agon_llm::Model;
use agon_sandbox::{Exec, Owner, Provider, ReadOnlyFolder, Request, Sandbox, SandboxError, WORK};
use async_trait::async_trait;
use tokio::time::timeout;

use crate::bundle::{self, BOUNDS, Bundle, Given, Rule};
use crate::contract::{Agent, AgentError, Answer};
use crate::error::SetupError;
use crate::factory::{Contender, Services, TrialContext};
use crate::gateway::WayToModels;
use crate::layout::{AGENT, Layout, SHOWN};
use crate::program::Started;
use crate::registry::Kind;
use crate::words;

pub(crate) const KIND: Kind = Kind {
    name: "cmd:",
    argument: "PROGRAM ARGS",
    about: "a program that speaks the agent protocol, in a sandbox of its own",
    check: |argument| words::command(argument).map(drop),
    open: |argument, services| Ok(Box::new(Confined::open(argument, services)?)),
};

/// How long a sandbox may take to be removed before we stop waiting for it.
const REMOVAL: Duration = Duration::from_secs(5);

/// Beyond its trial's own limits no program lives longer than this.
const SLACK: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Confined {
    argv: Vec<String>,
    bundle: Option<Arc<Bundle>>,
    local: Arc<dyn Provider>,
    models: Vec<Model>,
}

impl Confined {
    fn open(argument: &str, services: &Services) -> Result<Self, SetupError> {
        let words = words::command(argument).map_err(|why| SetupError::Spec {
            spec: format!("cmd:{argument}"),
            why,
        })?;
        let base = std::env::current_dir().map_err(SetupError::copy("no working folder"))?;
        let Layout {
            argv,
            folder,
            named,
        } = Layout::of(&words, &base)?;
        let bundle = match folder {
            Some(folder) => {
                let rule = Rule::new(Given {
                    folder: &folder,
                    of_run: &services.hidden,
                    named: &named,
                    asked: &services.agent_files,
                    shown: SHOWN,
                })?;
                Some(Arc::new(bundle::stage(&rule, &bundle::scratch()?, BOUNDS)?))
            }
            None => None,
        };
        Ok(Self {
            argv,
            bundle,
            local: Arc::clone(&services.local),
            models: services.models.clone(),
        })
    }
}

impl Contender for Confined {
    fn digest(&self) -> Option<Digest> {
        self.bundle.as_ref().map(|bundle| bundle.digest())
    }

    fn bundle(&self) -> Option<&Bundle> {
        self.bundle.as_deref()
    }

    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        let limits = context.limits;
        let lifetime = [limits.start, limits.setup, limits.seconds, limits.step]
            .iter()
            .fold(SLACK, |sum, limit| sum.saturating_add(limit.duration()));
        Ok(Box::new(Confinee {
            models: WayToModels::new(&self.models, &context.account),
            program: Started::default(),
            sandbox: None,
            argv: self.argv.clone(),
            bundle: self.bundle.clone(),
            local: Arc::clone(&self.local),
            owner: context.owner.clone(),
            start: limits.start.duration(),
            lifetime,
        }))
    }
}

#[derive(Debug)]
struct Confinee {
    models: WayToModels,
    // Before the sandbox, so that it is dropped before.
    program: Started,
    sandbox: Option<Box<dyn Sandbox>>,
    argv: Vec<String>,
    bundle: Option<Arc<Bundle>>,
    local: Arc<dyn Provider>,
    owner: Owner,
    start: Duration,
    lifetime: Duration,
}

impl Confinee {
    fn request(&self) -> Request {
        Request {
            environment: Environment::of_kind(EnvironmentKind::Local),
            owner: self.owner.clone(),
            read_only: self
                .bundle
                .iter()
                .filter_map(|bundle| {
                    Some(ReadOnlyFolder {
                        host: bundle.path()?.to_owned(),
                        inside: AGENT.to_owned(),
                    })
                })
                .collect(),
            display: None,
            work: None,
            start: self.start,
        }
    }

    fn exec(&self, env: BTreeMap<String, String>) -> Exec {
        let mut exec = Exec::new(self.argv.iter().cloned(), self.lifetime);
        exec.env = env;
        exec.cwd = if self.bundle.is_some() { AGENT } else { WORK }.to_owned();
        // Python would keep its answers to itself until its buffer is full.
        exec.env
            .insert("PYTHONUNBUFFERED".to_owned(), "1".to_owned());
        exec
    }
}

#[async_trait]
impl Agent for Confinee {
    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError> {
        let sandbox = self
            .local
            .prepare(&self.request())
            .await
            .map_err(|error| AgentError::Unreachable(format!("no sandbox for it: {error}")))?;
        let env = self.models.open_inside(sandbox.as_ref()).await?;
        let piped = sandbox.spawn(&self.exec(env)).await.map_err(not_started)?;
        self.sandbox = Some(sandbox);
        self.program.take_over(piped, brief)
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        self.program.act(observation).await
    }

    async fn end(&mut self) {
        self.models.close().await;
        self.program.end().await;
        if let Some(sandbox) = self.sandbox.take() {
            // Dropping it removes it, too.
            let _ = timeout(REMOVAL, sandbox.destroy()).await;
        }
    }

    fn complaints(&self) -> Option<String> {
        self.program.complaints()
    }
}

/// The sandbox stands: what it denies is the agent's doing.
fn not_started(error: SandboxError) -> AgentError {
    if matches!(error, SandboxError::Denied(_)) || error.of_agent() {
        AgentError::Crashed(format!("it did not start: {error}"))
    } else {
        AgentError::Unreachable(format!("it could not be started: {error}"))
    }
}
