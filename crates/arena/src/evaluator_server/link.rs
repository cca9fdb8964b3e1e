//! The evaluator's side of an agent's wire. Every call has a deadline, and nothing that an agent says
//! is believed to be short or sane.

use std::time::Duration;

use agon_agent::play::Task;
use reqwest::Client;
use serde_json::json;
use tokio::time::Instant;

use super::round::By;
use super::sighting::{Looks, Patience, STATUS, Seen};
use crate::result::StopReason;
use crate::wire::call::{CallError, Caller};
use crate::wire::{AgentFinished, PeerStatus, PeerUrl, Token, path};

const START: Duration = Duration::from_secs(5);
pub(super) const STOP: Duration = Duration::from_secs(1);

/// Between two looks at an agent that comes to rest.
const BETWEEN: Duration = Duration::from_millis(25);
/// So many of them in a row may fail.
const MISSES_AT_REST: u32 = 2;

#[derive(Debug, Clone)]
pub(super) struct AgentLink {
    agent: Caller,
}

impl AgentLink {
    pub(super) const fn new(client: Client, url: PeerUrl, token: Option<Token>) -> Self {
        let agent = Caller::new(client, url, token);
        Self { agent }
    }

    pub(super) const fn url(&self) -> &PeerUrl {
        self.agent.url()
    }

    pub(super) async fn status(&self) -> Result<PeerStatus, CallError> {
        self.look(STATUS).await
    }

    async fn look(&self, within: Duration) -> Result<PeerStatus, CallError> {
        let answer = self.agent.get(path::AGENT_STATUS, within).await?;
        let status = PeerStatus::parse(&answer.body);
        status.ok_or_else(|| self.agent.unreachable("its status makes no sense"))
    }

    pub(super) async fn start(&self, task: &Task) -> Result<(), CallError> {
        let started = self.agent.post_json(path::AGENT_TASK_START, task, START);
        started.await.map(drop)
    }

    /// Tells the agent to stop this task; it may say how it ended. Ours refuses if it plays another; an
    /// original does not read the body.
    pub(super) async fn stop(&self, task_id: &str) -> Result<Option<AgentFinished>, CallError> {
        let body = json!({ "task_id": task_id });
        let answer = self.agent.post_json(path::AGENT_TASK_STOP, &body, STOP);
        Ok(serde_json::from_slice(&answer.await?.body).ok())
    }

    /// Looks at an agent that plays `task_id` until it plays no more, or is gone.
    pub(super) async fn watch(&self, task_id: &str) -> Seen {
        let mut patience = Patience::new(Instant::now());
        let mut looks = Looks::default();
        loop {
            tokio::time::sleep_until(patience.next_look()).await;
            match self.look(patience.look(Instant::now())).await {
                Ok(status) => {
                    patience.answered(Instant::now());
                    if let Some(seen) = looks.ended(&status, task_id) {
                        return seen;
                    }
                }
                Err(error) if patience.is_over(Instant::now()) => {
                    return Seen {
                        reason: StopReason::AgentLost,
                        detail: format!("the agent at {error}"),
                        by: By::Us,
                    };
                }
                Err(_) => {}
            }
        }
    }

    /// Waits until the agent neither plays nor stops; after `deadline`, or without an answer, it is not
    /// waited for any longer.
    pub(super) async fn rest(&self, deadline: Instant) -> Rest {
        let (mut misses, mut last) = (0, Rest::Unknown);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return last;
            }
            match self.look(STATUS.min(left)).await {
                Ok(status) if !status.is_busy() => return Rest::Idle,
                Ok(status) => (misses, last) = (0, Rest::Busy(status.task_id)),
                Err(_) if misses >= MISSES_AT_REST => return Rest::Unknown,
                Err(_) => misses += 1,
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }
}

/// Where an agent was left that was to come to rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Idle,
    /// With the task of this id.
    Busy(Option<String>),
    Unknown,
}
