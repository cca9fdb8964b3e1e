//! The contract of every agent that takes turns: an observation in, an action out. An agent knows
//! its brief and what it observed; nothing else of the task ever reaches it.

use std::fmt;

use agon_core::verdict::TurnEnd;
use agon_core::{Action, ActionKind, Brief, Called, Condensation, Observation, Usage};
use async_trait::async_trait;

/// One answer of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub action: Action,
    /// Recorded, never graded.
    pub thought: Option<String>,
    /// Model usage since the last answer, as the agent reports it.
    pub usage: Option<Usage>,
    /// The kinds of action that the agent says it uses from here on, this answer included.
    pub uses: Option<Vec<ActionKind>>,
    /// Whether the agent wants the pictures of screens from here on.
    pub pictures: Option<Pictures>,
    /// The tool call of its model that the action was made from.
    pub called: Option<Called>,
    /// What its model is not shown any more.
    pub condensed: Option<Condensation>,
}

/// Whether an agent is sent the pictures of screens, or only what is said about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pictures {
    #[default]
    Wanted,
    Unwanted,
}

impl From<Action> for Reply {
    fn from(action: Action) -> Self {
        Self {
            action,
            thought: None,
            usage: None,
            uses: None,
            pictures: None,
            called: None,
            condensed: None,
        }
    }
}

/// What came back from an agent that answered.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is nearly always a reply"
)]
pub enum Answer {
    Reply(Reply),
    /// A well-formed message that is no known action: refused and recorded, the turn goes on.
    NotAnAction {
        text: String,
        why: String,
        /// What its model is not shown any more.
        condensed: Option<Condensation>,
    },
}

impl Answer {
    /// What the agent declares about pictures, if it does.
    pub(crate) fn pictures(&self) -> Option<Pictures> {
        match self {
            Self::Reply(reply) => reply.pictures,
            Self::NotAnAction { .. } => None,
        }
    }
}

impl From<Action> for Answer {
    fn from(action: Action) -> Self {
        Self::Reply(action.into())
    }
}

/// Why an agent does not answer. The last three are faults; the others end its turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    #[error("the agent left")]
    Left,
    #[error("the agent crashed: {0}")]
    Crashed(String),
    /// No message at all: broken JSON, a line that never ends.
    #[error("the agent sent garbage: {0}")]
    Garbage(String),
    /// The trial's or the run's tokens or money are used up: `TokenLimit` or `MoneyLimit`.
    #[error("the agent's turn ended: its {} spent", used_up(*.0))]
    OutOfBudget(TurnEnd),
    /// Its service is not there, by our own evidence.
    #[error("the agent can't be reached: {0}")]
    Unreachable(String),
    /// The service of a model that we ask for it failed.
    #[error("the agent's model failed: {0}")]
    Model(String),
    /// It was made for other tasks than this one.
    #[error("the agent can't play this task: {0}")]
    Unfit(String),
}

fn used_up(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::MoneyLimit => "money is",
        _ => "tokens are",
    }
}

#[async_trait]
pub trait Agent: fmt::Debug + Send {
    /// The kinds of action this agent may use; `None`: any. A task that allows none of them is
    /// refused before it is played; an action of another kind is refused and recorded.
    fn uses(&self) -> Option<&[ActionKind]> {
        None
    }

    /// Whether its turn is to end as soon as it only repeats itself.
    fn ends_when_stuck(&self) -> bool {
        false
    }

    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError>;

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError>;

    /// The conversation is over. Must return soon; whatever still runs is killed on drop.
    async fn end(&mut self) {}

    /// What the agent's program wrote to its standard error, cut: for the record.
    fn complaints(&self) -> Option<String> {
        None
    }
}
