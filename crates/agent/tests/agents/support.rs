//! What every test here needs: a task, a factory, and a play of one trial.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::{Agent, AgentError, AgentFactory, AgentSpec, Answer, Services, TrialContext};
use agon_core::{
    Action, Brief, Digest, Environment, EnvironmentKind, HostOnly, Observation, Picture,
    PictureFormat, ScreenPoint, ScreenView, Seed, Solution, Task, TaskId, TrialId, WindowView,
};
use agon_llm::{Account, Budget};
use agon_sandbox::{Owner, Provider, Request, Sandbox, SandboxError};
use async_trait::async_trait;

pub(crate) const SEED: Seed = Seed(7);

/// A machine on which no sandbox can be made.
#[derive(Debug)]
struct NoSandboxes;

#[async_trait]
impl Provider for NoSandboxes {
    async fn prepare(&self, _: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        Err(SandboxError::Missing("install bubblewrap".to_owned()))
    }
    async fn describe(&self) -> Result<String, SandboxError> {
        Ok("none".to_owned())
    }
}

pub(crate) fn services() -> Services {
    Services {
        local: Arc::new(NoSandboxes),
        hidden: Vec::new(),
        agent_files: Vec::new(),
        models: Vec::new(),
        config: None,
        session: None,
    }
}

pub(crate) fn factory(spec: &str) -> AgentFactory {
    AgentFactory::new(&AgentSpec::parse(spec).unwrap(), &services()).unwrap()
}

pub(crate) fn task(instruction: &str, solution: Option<Vec<Action>>) -> Task {
    let environment = Environment::of_kind(EnvironmentKind::Local);
    Task {
        solution: HostOnly::new(solution.map(Solution::Actions)),
        digest: Digest::of(b"task"),
        played: Digest::of(b"played"),
        ..Task::plain(
            TaskId::parse("files/greeting").unwrap(),
            instruction,
            environment,
        )
    }
}

pub(crate) fn agent_for(factory: &AgentFactory, task: &Task, epoch: u32) -> Box<dyn Agent> {
    let trial = TrialId {
        task: task.id.clone(),
        epoch,
    };
    let context = TrialContext {
        task,
        trial: &trial,
        seed: SEED,
        owner: Owner {
            run: "test".to_owned(),
            trial: trial.to_string(),
        },
        limits: &task.limits,
        account: Arc::new(Account::of_trial(Budget::default(), None)),
    };
    factory.for_trial(&context).unwrap()
}

pub(crate) fn brief() -> Brief {
    task(
        "Write hello to greeting.txt in the working directory.",
        None,
    )
    .brief(SEED)
}

/// An agent that has been started on some task.
pub(crate) async fn started(spec: &str) -> Box<dyn Agent> {
    let mut agent = agent_for(&factory(spec), &task("Do something.", None), 1);
    agent.start(&brief()).await.unwrap();
    agent
}

pub(crate) fn ready() -> Observation {
    Observation::ready("The environment is ready.")
}

/// A screen of 641x480 with one window on it, and a picture of these bytes.
pub(crate) fn seen(picture: &[u8]) -> Observation {
    let mut seen = Observation::done();
    seen.screen = Some(ScreenView {
        width: 641,
        height: 480,
        cursor: Some(ScreenPoint { x: 0, y: 0 }),
        window: Some(WindowView::new(
            "notes",
            "Mousepad",
            Some(3),
            ScreenPoint { x: 10, y: 20 },
            (300, 200),
        )),
        picture: Picture::new(PictureFormat::Png, picture),
    });
    seen
}

/// The agent's answer to a first observation.
pub(crate) async fn first(agent: &mut dyn Agent) -> Result<Answer, AgentError> {
    soon(agent.act(&ready())).await
}

pub(crate) fn finish() -> Answer {
    Action::Finish { result: None }.into()
}

/// Far more than anything here takes: a test that hangs fails.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .unwrap()
}

/// Whether an agent that is given some time lets it pass without an answer.
pub(crate) async fn is_silent(agent: &mut dyn Agent) -> bool {
    tokio::time::timeout(Duration::from_millis(300), agent.act(&ready()))
        .await
        .is_err()
}

pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
