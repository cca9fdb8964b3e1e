//! A place where one task is played by an agent that is told here what to do, in real sandboxes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agon_agent::user::Users;
use agon_agent::{Agent, AgentError, AgentFactory, Answer, Contender, TrialContext};
use agon_core::check::{Check, CheckKind, TextTest};
use agon_core::observation::ObservationKind;
use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{
    Action, ActionKind, Brief, Digest, Environment, EnvironmentKind, Event, EventBody, FaultClass,
    HostOnly, Limits, Observation, Purpose, Seed, SystemClock, Task, User, VerifyOnly,
};
use agon_engine::{
    Desktops, Dispatch, Job, Providers, Removals, RunBudget, Shelf, Spent, Table, Unwatched,
    dispatch,
};
use agon_llm::config::{Config, ConfigSource};
use agon_llm::{Account, Budget, Model, Session, SessionOptions};
use agon_sandbox::{LocalConfig, LocalProvider};
use agon_store::{RunFolder, RunReader, RunWriter, TrialLine};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::fixture::task;

/// What an agent does at a step, which counts from 1.
pub(crate) type Act =
    dyn Fn(u32, &Observation) -> Result<Answer, AgentError> + Send + Sync + 'static;

/// An agent for every trial, all of one mind.
pub(crate) struct Actor {
    act: Arc<Act>,
    ends_when_stuck: bool,
    /// Asked at every step, before anything is done.
    model: Option<Model>,
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Actor")
    }
}

impl Actor {
    pub(crate) fn new(
        act: impl Fn(u32, &Observation) -> Result<Answer, AgentError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            act: Arc::new(act),
            ends_when_stuck: false,
            model: None,
        }
    }

    /// Does these things, and then nothing but finish.
    pub(crate) fn doing(actions: &[Action]) -> Self {
        let actions = actions.to_vec();
        Self::new(move |step, _| {
            let next = actions.get(step as usize - 1);
            Ok(next.cloned().unwrap_or_else(|| finish("done")).into())
        })
    }

    pub(crate) fn ending_when_stuck(mut self) -> Self {
        self.ends_when_stuck = true;
        self
    }

    pub(crate) fn asking(mut self, model: Model) -> Self {
        self.model = Some(model);
        self
    }
}

impl Contender for Actor {
    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        let model = self.model.as_ref();
        Ok(Box::new(Acting {
            actor: Self {
                act: Arc::clone(&self.act),
                ends_when_stuck: self.ends_when_stuck,
                model: model.map(|model| model.on(&context.account, Purpose::Agent)),
            },
            step: 0,
        }))
    }
}

#[derive(Debug)]
struct Acting {
    actor: Actor,
    step: u32,
}

#[async_trait]
impl Agent for Acting {
    fn ends_when_stuck(&self) -> bool {
        self.actor.ends_when_stuck
    }

    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Ok(())
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        self.step += 1;
        if let Some(model) = &self.actor.model {
            let asked = model.ask(&agon_llm::Request::user("what next?")).await;
            asked.map_err(|error| match error.spent {
                Some(end) => AgentError::OutOfBudget(end),
                None => AgentError::Model(error.to_string()),
            })?;
        }
        (self.actor.act)(self.step, observation)
    }
}

pub(crate) fn finish(result: &str) -> Action {
    Action::Finish {
        result: Some(result.to_owned()),
    }
}

pub(crate) fn say(text: &str) -> Action {
    Action::Message {
        text: text.to_owned(),
    }
}

/// A conversation that passes if it comes to `done`.
pub(crate) fn conversation(user: User) -> Task {
    let test = TextTest::Equals("done".to_owned());
    let check = Check {
        name: None,
        weight: 1.0,
        kind: CheckKind::ReturnedResult { tests: vec![test] },
    };
    Task {
        user: HostOnly::new(user),
        checks: VerifyOnly::new(vec![check]),
        actions: ActionKind::ALL.to_vec(),
        ..task()
    }
}

/// The same with a sandbox.
pub(crate) fn workplace() -> Task {
    Task {
        environment: Environment::of_kind(EnvironmentKind::Local),
        ..conversation(User::default())
    }
}

/// A model that gives these answers in order, from a file in `folder`.
pub(crate) fn model(folder: &Path, answers: &serde_json::Value) -> Model {
    let file = folder.join("answers.json");
    std::fs::write(&file, answers.to_string()).unwrap();
    let source = ConfigSource {
        folder: folder.to_owned(),
        ..ConfigSource::default()
    };
    let config = Config::load(&source).unwrap();
    let name = format!("mock/script:{}", file.display());
    let session = Session::open(&SessionOptions::default()).unwrap();
    session.model(config.model(&name).unwrap()).unwrap()
}

/// What is on disk of one attempt.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) line: TrialLine,
    pub(crate) events: Vec<Event>,
}

impl Played {
    pub(crate) fn observations(&self) -> Vec<&Observation> {
        let seen = |event: &'_ Event| matches!(event.body, EventBody::Observation(_));
        let seen = self.events.iter().filter(|event| seen(event));
        seen.filter_map(|event| match &event.body {
            EventBody::Observation(seen) => Some(seen),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn texts(&self, kind: ObservationKind) -> Vec<&str> {
        let seen = self.observations().into_iter();
        let of_kind = seen.filter(|seen| seen.kind == kind);
        of_kind.map(|seen| seen.text.as_str()).collect()
    }

    /// How the turn ended, which is in the record as in the line.
    pub(crate) fn end(&self) -> Option<TurnEnd> {
        let end = |event: &Event| match event.body {
            EventBody::End(end) => Some(end),
            _ => None,
        };
        assert_eq!(self.events.iter().rev().find_map(end), self.line.end);
        self.line.end
    }
}

/// Plays a task once, and again as often as a fault allows.
pub(crate) async fn play(task: Task, actor: Actor, users: Users, retries: u32) -> Vec<Played> {
    let root = tempfile::tempdir().unwrap();
    let config = LocalConfig {
        init: env!("CARGO_BIN_EXE_agon-engine-init").into(),
        init_args: Vec::new(),
        hidden: Vec::new(),
    };
    let sandboxes = Arc::new(LocalProvider::new(config).unwrap());
    let table = Arc::new(Table {
        run: "flow".to_owned(),
        clock: Arc::new(SystemClock::default()),
        writer: RunWriter::open(&RunFolder::at(root.path())).unwrap(),
        providers: Providers {
            local: Arc::clone(&sandboxes) as _,
            container: sandboxes,
            desktops: Desktops::new(0),
            hidden: Vec::new(),
        },
        agents: AgentFactory::of("actor", Box::new(actor)),
        users,
        judge: None,
        watch: Arc::new(Unwatched),
        keep_work: 0,
        removals: Removals::default(),
        programs: Shelf::new(BTreeMap::new()),
        account: Arc::new(Account::of_run(Budget::default())),
    });
    let job = Job {
        task: Arc::new(task),
        epoch: 1,
        attempt: 1,
        seed: Seed(1),
        key: Digest::of(b""),
        rerun: false,
        retried: false,
        replaces: None,
    };
    let options = Dispatch {
        workers: 1,
        memory: u64::MAX,
        retries,
        budget: RunBudget::default(),
    };
    let stop = CancellationToken::new();
    dispatch(&table, [job].into_iter(), &options, Spent::default(), &stop)
        .await
        .unwrap();
    table.providers.settle().await;
    let golden = include_bytes!("../../../store/tests/golden/format-1/run.json");
    std::fs::write(root.path().join("run.json"), golden).unwrap();
    let reader = RunReader::open(root.path()).unwrap();
    let lines = reader.trials().unwrap().into_iter();
    lines
        .map(|line| Played {
            events: reader.events(&line).unwrap(),
            line,
        })
        .collect()
}

/// The same where one attempt is all there is.
pub(crate) async fn play_once(task: Task, actor: Actor) -> Played {
    let mut played = play(task, actor, Users::default(), 0).await;
    assert_eq!(played.len(), 1);
    played.remove(0)
}

pub(crate) fn limited(task: Task, change: impl FnOnce(&mut Limits)) -> Task {
    let mut limits = task.limits.clone();
    change(&mut limits);
    Task { limits, ..task }
}

/// The fault that ended an attempt, which is in the record as in the line.
pub(crate) fn fault(played: &Played) -> FaultClass {
    assert_eq!(played.line.outcome, Outcome::Faulted);
    let recorded = played.events.iter().find_map(|event| match &event.body {
        EventBody::Fault(fault) => Some(fault),
        _ => None,
    });
    assert_eq!(recorded, played.line.fault.as_ref());
    recorded.unwrap().class
}
