//! The state's fields, and what is often asked of it.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agon_core::Fault;
use agon_core::verdict::TurnEnd;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::flag::{ControlFlag, TrafficControlState};
use crate::events::{Action, Event, EventBody, EventSource, write_trajectory};
use crate::metrics::Metrics;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    #[default]
    Loading,
    Running,
    AwaitingUserInput,
    Paused,
    Stopped,
    Finished,
    Rejected,
    Error,
    AwaitingUserConfirmation,
    UserConfirmed,
    UserRejected,
    RateLimited,
}

impl AgentState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Running => "running",
            Self::AwaitingUserInput => "awaiting_user_input",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
            Self::Rejected => "rejected",
            Self::Error => "error",
            Self::AwaitingUserConfirmation => "awaiting_user_confirmation",
            Self::UserConfirmed => "user_confirmed",
            Self::UserRejected => "user_rejected",
            Self::RateLimited => "rate_limited",
        }
    }
}

impl std::fmt::Display for AgentState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub session_id: String,
    pub user_id: Option<String>,
    pub iteration_flag: ControlFlag<u64>,
    /// By who asked: `agent`, `user`, `judge`.
    pub conversation_stats: BTreeMap<String, Metrics>,
    pub budget_flag: Option<ControlFlag<f64>>,
    pub confirmation_mode: bool,
    pub history: Vec<Event>,
    pub inputs: Map<String, Value>,
    pub outputs: Map<String, Value>,
    pub agent_state: AgentState,
    pub resume_state: Option<AgentState>,
    pub delegate_level: u64,
    /// Where in the history the agent's last turn begins.
    pub start_id: i64,
    pub end_id: i64,
    pub parent_metrics_snapshot: Option<Metrics>,
    pub parent_iteration: i64,
    pub extra_data: Map<String, Value>,
    /// Empty where there was none.
    pub last_error: String,
    pub metrics: Metrics,
    /// Steps so far. This and what follows say again what stands above, for programs of older versions.
    pub iteration: u64,
    pub local_iteration: u64,
    pub max_iterations: u64,
    pub traffic_control_state: TrafficControlState,
    pub local_metrics: Metrics,
    /// Always empty: there are none.
    pub delegates: Map<String, Value>,
    /// How the agent's turn ended, once it has.
    #[serde(skip)]
    pub end: Option<TurnEnd>,
    /// What of ours went wrong: the agent's work can't be judged by it.
    #[serde(skip)]
    pub fault: Option<Fault>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            session_id: String::new(),
            user_id: None,
            iteration_flag: ControlFlag::at(0, 100),
            conversation_stats: BTreeMap::new(),
            budget_flag: None,
            confirmation_mode: false,
            history: Vec::new(),
            inputs: Map::new(),
            outputs: Map::new(),
            agent_state: AgentState::Loading,
            resume_state: None,
            delegate_level: 0,
            start_id: -1,
            end_id: -1,
            parent_metrics_snapshot: None,
            parent_iteration: 100,
            extra_data: Map::new(),
            last_error: String::new(),
            metrics: Metrics::default(),
            iteration: 0,
            local_iteration: 0,
            max_iterations: 100,
            traffic_control_state: TrafficControlState::Normal,
            local_metrics: Metrics::default(),
            delegates: Map::new(),
            end: None,
            fault: None,
        }
    }
}

impl State {
    /// The agent's last message, as it was said.
    pub fn get_last_agent_message(&self) -> Option<&str> {
        self.last_words(EventSource::Agent)
    }

    /// The user's last message; the task itself, if nothing was said since.
    pub fn get_last_user_message(&self) -> Option<&str> {
        self.last_words(EventSource::User)
    }

    fn last_words(&self, of: EventSource) -> Option<&str> {
        self.history
            .iter()
            .rev()
            .find_map(|event| event.words_of(of))
    }

    /// How often the user has spoken, the task included where it is part of the history.
    pub fn user_messages(&self) -> usize {
        let by_user = |event: &&Event| event.words_of(EventSource::User).is_some();
        self.history.iter().filter(by_user).count()
    }

    /// What the agent gave with `finish` in its last turn, if it did; otherwise its last message in it.
    pub fn answer(&self) -> Option<&str> {
        let begun = usize::try_from(self.start_id).unwrap_or(0);
        let turn = self.history.get(begun..).unwrap_or_default();
        let finished = turn.iter().rev().find_map(|event| match &event.body {
            EventBody::Action(Action::Finish(finish)) => {
                let parts = [&*finish.final_thought, &*finish.thought];
                parts.into_iter().find(|part| !part.is_empty())
            }
            _ => None,
        });
        let mut said = turn.iter().rev();
        finished.or_else(|| said.find_map(|event| event.words_of(EventSource::Agent)))
    }

    /// Writes the history to a file of its own; into a folder, under the session's name. Whoever is killed
    /// while at it leaves the file as it was.
    pub fn save_trajectory(&self, path: &Path) -> io::Result<()> {
        let text = write_trajectory(&self.history, true).map_err(io::Error::other)?;
        let path = match path.is_dir() {
            true => path.join(format!("{}.json", self.session_id)),
            false => path.to_owned(),
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder)?;
        // Devices and links stay what they are.
        if path.symlink_metadata().is_ok_and(|about| !about.is_file()) {
            return std::fs::write(path, text);
        }
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        let mut file = tempfile::Builder::new()
            .prefix(".unfinished-")
            .permissions(Permissions::from_mode(0o644))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_data()?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    }
}
