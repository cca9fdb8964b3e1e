//! Brings agent, runtime and task together and lets the engine's own loop play the turn.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use agon_agent::user::{Person, Users};
use agon_agent::{AgentFactory, AgentSpec, KINDS, Services};
use agon_core::user::OwnUser;
use agon_core::{
    ActionKind, Clock, Digest, EnvironmentKind, Event, Money, Seed, SystemClock, Task, TaskId, User,
};
use agon_engine::{Ground, Job, Removals, Shelf, Solo, Table, solo};
use agon_llm::config::Environment;
use agon_llm::{Account, Budget};
use agon_store::{RunFolder, RunWriter};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::allotment::Allotment;
use super::error::ControllerError;
use super::journal::{Journal, Onlooker};
use super::session::Session;
use super::voice::FakeUser;
use crate::codeact::{self, CodeActContender, Options};
use crate::config::AppConfig;
use crate::dialect::{self, Record, Replay};
use crate::metrics::Metrics;
use crate::runtime::{Connected, Runtime};
use crate::state::State;

/// A larger trajectory is none.
pub(super) const LARGEST_TRAJECTORY: u64 = 256 << 20;

/// Actions that can't be played again and are named one by one.
const MOST_TOLD: usize = 20;

/// Where a state tells what was condensed.
pub(crate) const CONDENSED: &str = "condenser_meta";

/// Lets the configured agent work on a task until it finishes, is stopped by a limit, or something fails;
/// `user` answers its messages. Then everything that it left running is ended: the runtime's files are as
/// the agent left them, its shell is a new one.
pub async fn run_controller(
    config: &AppConfig,
    task_str: &str,
    runtime: &mut Runtime,
    user: impl Fn(&State) -> String + Send + Sync + 'static,
) -> Result<State, ControllerError> {
    let conversation = Conversation::new(config, task_str).with_user(user);
    let state = conversation.run(runtime).await?;
    match runtime.reclaim().await {
        // Whoever looks for something in it will be told the same.
        Err(error) if error.of_agent() => Ok(state),
        reclaimed => Ok(reclaimed.map(|()| state)?),
    }
}

/// The same, with what only some need. What the agent started goes on.
pub struct Conversation<'a> {
    config: &'a AppConfig,
    instruction: String,
    task: Task,
    users: Users,
    onlooker: Option<Onlooker>,
    stop: CancellationToken,
    session: Option<&'a Session>,
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
            session: None,
        }
    }

    /// Goes on with a session: the agent remembers what it did in it, and what it does is added to it. The
    /// record is kept in the session's own folder. Steps and time are counted anew, money is not.
    #[must_use]
    pub fn in_session(mut self, session: &'a Session) -> Self {
        let limits = &mut self.task.limits;
        limits.money = limits.money.map(|most| {
            let left = most.picos().saturating_sub(session.spent().picos());
            Money::from_picos(left)
        });
        self.session = Some(session);
        self
    }

    #[must_use]
    pub fn with_user(mut self, user: impl Fn(&State) -> String + Send + Sync + 'static) -> Self {
        let voice = FakeUser::new(user, self.config);
        self.task.user = agon_core::HostOnly::new(User::Own(OwnUser::new(voice)));
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
        let given = Allotment::given();
        let account = match &given {
            Some(given) => {
                payable(config, given)?;
                given.begins_turn(config.limits().seconds.duration());
                given.account()
            }
            None => Arc::new(Account::of_run(Budget::default())),
        };
        let (agents, left_out) = agent(config, runtime, self.session)?;
        let kept = self.session.map(Session::path);
        let place = Place::of(kept.or(config.session_folder.as_deref()))?;
        let folder = RunFolder::at(place.path());
        let log = self.session.map(Session::log).transpose()?;
        let journal = Arc::new(Journal::new(self.onlooker, log));
        let table = Arc::new(Table {
            run: folder.name(),
            clock: Arc::new(SystemClock::default()) as Arc<dyn Clock>,
            writer: RunWriter::open(&folder)?,
            providers: runtime.providers().clone(),
            agents,
            users: self.users,
            judge: None,
            watch: Arc::clone(&journal) as _,
            keep_work: 0,
            removals: Removals::default(),
            programs: Shelf::new(std::collections::BTreeMap::new()),
            account,
        });
        let job = Job {
            task: Arc::new(self.task),
            epoch: 1,
            attempt: self
                .session
                .map_or(0, Session::conversations)
                .saturating_add(1),
            seed: Seed(0),
            key: Digest::of(b""),
            rerun: false,
            retried: false,
            replaces: None,
        };
        let Connected { sandbox, workbench } = runtime.connected_mut()?;
        let ground = Ground {
            sandbox: Some(&**sandbox),
            workbench,
            stop: self.stop,
            notes: left_out,
        };
        let Solo { end, note, .. } = solo(&table, job, ground).await?;
        table.writer.flush()?;
        journal.close()?;
        let past = self
            .session
            .map_or(&[][..], |session| &session.past().events);
        let events = [past, &journal.take()].concat();
        let before = self.session.and_then(Session::task);
        let task = before.unwrap_or(&self.instruction);
        let mut state = State::ended(task, &events, &folder, config, &end, note.as_deref());
        let record = Record {
            events: &events,
            instruction: Some(task),
            agent: &config.default_agent,
            bodies: &folder,
            models: None,
        };
        let condensed = Metrics::default().with_condenser(&record).condenser;
        state
            .extra_data
            .insert(CONDENSED.to_owned(), condensed.into());
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

/// A limit of money needs prices.
fn payable(config: &AppConfig, given: &Allotment) -> Result<(), ControllerError> {
    match config.get_llm_config() {
        Some(llm) if given.in_money() && !llm.model.has_price() => {
            Err(ControllerError::NoPrice(llm.spec().name.clone()))
        }
        _ => Ok(()),
    }
}

/// The agent, and what of a trajectory it can't play.
fn agent(
    config: &AppConfig,
    runtime: &Runtime,
    session: Option<&Session>,
) -> Result<(AgentFactory, Vec<String>), ControllerError> {
    let llm = config.get_llm_config();
    let services = Services {
        local: Arc::clone(&runtime.providers().local),
        hidden: runtime.providers().hidden.clone(),
        agent_files: Vec::new(),
        models: llm.iter().map(|llm| llm.model.clone()).collect(),
        config: llm.map(|llm| Arc::clone(&llm.config)),
        session: llm.map(|llm| Arc::clone(&llm.session)),
    };
    let kinds = KINDS.iter().chain(codeact::KINDS);
    let spec = AgentSpec::parse_among(&config.default_agent, kinds)?;
    let name = config.default_agent.clone();
    if let Some(session) = session.filter(|session| !session.is_new()) {
        if !codeact::KINDS
            .iter()
            .any(|kind| kind.name == spec.kind().name)
        {
            return Err(ControllerError::NoMemory(name));
        }
        if config.replay_trajectory_path.is_some() {
            return Err(ControllerError::TwoPasts(session.path().to_owned()));
        }
        let agent = codeact::open(&name, &services)?.with_past(Arc::clone(session.past()));
        return Ok((AgentFactory::of(name, Box::new(agent)), Vec::new()));
    }
    let Some(path) = &config.replay_trajectory_path else {
        return Ok((AgentFactory::new(&spec, &services)?, Vec::new()));
    };
    let options = Options::of(
        services.config.as_ref(),
        services.session.as_ref(),
        &Environment::of_process(),
    );
    let options = options.map_err(|why| wrong(path, why))?;
    let model = services.models.first().cloned();
    let replay = trajectory(path)?;
    let left_out = told(&replay);
    let replaying = CodeActContender::new(options, model).with_script(replay.actions);
    Ok((AgentFactory::of(name, Box::new(replaying)), left_out))
}

/// What is not played again, in a few lines.
fn told(replay: &Replay) -> Vec<String> {
    let left_out = replay.left_out.iter().take(MOST_TOLD);
    let left_out = left_out.map(|why| format!("not played again: {why}"));
    let more = replay.left_out.len().saturating_sub(MOST_TOLD);
    let more = (more > 0).then(|| format!("not played again: {more} more actions"));
    left_out.chain(more).collect()
}

/// What was asked for in a trajectory, and what the agent did.
pub fn trajectory(path: &Path) -> Result<Replay, ControllerError> {
    let text = bounded(path, LARGEST_TRAJECTORY).map_err(|why| wrong(path, why))?;
    dialect::replay(&text).map_err(|error| wrong(path, error.to_string()))
}

pub(super) fn bounded(path: &Path, most: u64) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(most + 1).read_to_string(&mut text);
    match read.map_err(|error| error.to_string())? as u64 {
        read if read > most => Err(format!("it is larger than {most} bytes")),
        _ => Ok(text),
    }
}

fn wrong(path: &Path, why: String) -> ControllerError {
    ControllerError::Trajectory {
        path: path.display().to_string(),
        why,
    }
}
