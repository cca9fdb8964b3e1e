//! Brings agent, runtime and task together and lets the engine's own loop play the turn.

use std::path::Path;
use std::sync::Arc;

use agon_agent::user::{Person, Users};
use agon_agent::{AgentFactory, AgentSpec, KINDS, Services};
use agon_core::user::OwnUser;
use agon_core::verdict::TurnEnd;
use agon_core::{
    ActionKind, Clock, Digest, EnvironmentKind, Event, Seed, SystemClock, Task, TaskId, User,
};
use agon_engine::{Job, Removals, Shelf, Solo, Table, solo};
use agon_llm::config::Environment;
use agon_llm::{Account, Budget};
use agon_store::{RunFolder, RunWriter};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::error::ControllerError;
use super::journal::{Journal, Onlooker};
use super::voice::FakeUser;
use crate::codeact::{self, CodeActContender, Options};
use crate::config::AppConfig;
use crate::dialect::{self, Replay};
use crate::runtime::{Connected, Runtime};
use crate::state::State;

/// Lets the configured agent work on a task until it finishes, is stopped by a limit, or something fails;
/// `user` answers its messages. The runtime is left as the agent left it.
pub async fn run_controller(
    config: &AppConfig,
    task_str: &str,
    runtime: &mut Runtime,
    user: impl Fn(&State) -> String + Send + Sync + 'static,
) -> Result<State, ControllerError> {
    Conversation::new(config, task_str)
        .with_user(user)
        .run(runtime)
        .await
}

/// The same, with what only some need.
pub struct Conversation<'a> {
    config: &'a AppConfig,
    instruction: String,
    task: Task,
    users: Users,
    onlooker: Option<Onlooker>,
    stop: CancellationToken,
}

impl std::fmt::Debug for Conversation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversation").finish_non_exhaustive()
    }
}

impl<'a> Conversation<'a> {
    pub fn new(config: &'a AppConfig, instruction: &str) -> Self {
        Self {
            task: task(config, instruction),
            instruction: instruction.to_owned(),
            config,
            users: Users::default(),
            onlooker: None,
            stop: CancellationToken::new(),
        }
    }

    #[must_use]
    pub fn with_user(mut self, user: impl Fn(&State) -> String + Send + Sync + 'static) -> Self {
        self.task.user = agon_core::HostOnly::new(User::Own(OwnUser::new(FakeUser(user))));
        self
    }

    /// Somebody who answers at the keyboard.
    #[must_use]
    pub fn with_person(mut self, person: Arc<dyn Person>) -> Self {
        self.task.user = agon_core::HostOnly::new(User::Person);
        self.users.person = Some(person);
        self
    }

    /// Somebody who is shown every event as it is recorded.
    #[must_use]
    pub fn watched(mut self, onlooker: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.onlooker = Some(Arc::new(onlooker));
        self
    }

    /// Ends the agent's turn in the middle; what it did so far is kept.
    #[must_use]
    pub fn stopped_by(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    pub async fn run(self, runtime: &mut Runtime) -> Result<State, ControllerError> {
        let config = self.config;
        let agents = agent(config, runtime)?;
        let place = Place::of(config.session_folder.as_deref())?;
        let folder = RunFolder::at(place.path());
        let journal = Arc::new(Journal::new(self.onlooker));
        let table = Arc::new(Table {
            run: folder.name(),
            clock: Arc::new(SystemClock::default()) as Arc<dyn Clock>,
            writer: RunWriter::open(&folder)?,
            providers: runtime.providers().clone(),
            agents,
            users: self.users,
            watch: Arc::clone(&journal) as _,
            keep_work: 0,
            removals: Removals::default(),
            programs: Shelf::new(std::collections::BTreeMap::new()),
            account: Arc::new(Account::of_run(Budget::default())),
        });
        let job = Job {
            task: Arc::new(self.task),
            epoch: 1,
            attempt: 1,
            seed: Seed(0),
            key: Digest::of(b""),
            rerun: false,
            retried: false,
            replaces: None,
        };
        let Connected { sandbox, workbench } = runtime.connected_mut()?;
        let (end, note) = tokio::select! {
            turn = solo(&table, job, Some(&**sandbox), workbench) => {
                let Solo { end, note, .. } = turn?;
                (end, note)
            }
            () = self.stop.cancelled() => (Ok(TurnEnd::Operator), None),
        };
        table.writer.flush()?;
        let state = State::ended(
            &self.instruction,
            &journal.take(),
            &folder,
            config,
            &end,
            note.as_deref(),
        );
        if let Some(path) = &config.save_trajectory_path {
            let told = |error: std::io::Error| ControllerError::Trajectory {
                path: path.display().to_string(),
                why: error.to_string(),
            };
            state.save_trajectory(path).map_err(told)?;
        }
        Ok(state)
    }
}

/// Where the record goes.
enum Place<'a> {
    Given(&'a Path),
    Temporary(TempDir),
}

impl<'a> Place<'a> {
    fn of(given: Option<&'a Path>) -> Result<Self, ControllerError> {
        Ok(match given {
            Some(path) => {
                std::fs::create_dir_all(path)?;
                Self::Given(path)
            }
            None => Self::Temporary(TempDir::new()?),
        })
    }

    fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

fn task(config: &AppConfig, instruction: &str) -> Task {
    let environment = config.environment();
    let mut actions = environment.kind.default_actions().to_vec();
    if config.enable_browser && environment.kind != EnvironmentKind::None {
        actions.push(ActionKind::Browse);
    }
    Task {
        limits: config.limits(),
        actions,
        ..Task::plain(TaskId::alone(), instruction, environment)
    }
}

fn agent(config: &AppConfig, runtime: &Runtime) -> Result<AgentFactory, ControllerError> {
    let llm = config.get_llm_config();
    let services = Services {
        local: Arc::clone(&runtime.providers().local),
        hidden: Vec::new(),
        models: llm.iter().map(|llm| llm.model.clone()).collect(),
        config: llm.map(|llm| Arc::clone(&llm.config)),
        session: llm.map(|llm| Arc::clone(&llm.session)),
    };
    let kinds = KINDS.iter().chain(codeact::KINDS);
    let spec = AgentSpec::parse_among(&config.default_agent, kinds)?;
    let Some(path) = &config.replay_trajectory_path else {
        return Ok(AgentFactory::new(&spec, &services)?);
    };
    let wrong = |why: String| ControllerError::Trajectory {
        path: path.display().to_string(),
        why,
    };
    let options = Options::of(
        services.config.as_ref(),
        services.session.as_ref(),
        &Environment::of_process(),
    );
    let model = services.models.first().cloned();
    let replaying = CodeActContender::new(options.map_err(wrong)?, model);
    let replaying = replaying.with_script(trajectory(path)?.actions);
    let name = config.default_agent.clone();
    Ok(AgentFactory::of(name, Box::new(replaying)))
}

/// What was asked for in a trajectory, and what the agent did.
pub fn trajectory(path: &Path) -> Result<Replay, ControllerError> {
    let wrong = |why: String| ControllerError::Trajectory {
        path: path.display().to_string(),
        why,
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    dialect::replay(&text).map_err(|error| wrong(error.to_string()))
}
