//! The evaluator's side of an agent's wire. Every call has a deadline, and nothing that an agent says
//! is believed to be short or sane.

use std::time::{Duration, Instant};

use agon_agent::play::Task;
use reqwest::Client;

use super::round::By;
use crate::result::StopReason;
use crate::wire::call::{CallError, Caller};
use crate::wire::{AgentFinished, PeerStatus, PeerUrl, Token, path};

const STATUS: Duration = Duration::from_millis(500);
const START: Duration = Duration::from_secs(5);
const STOP: Duration = Duration::from_secs(1);

/// Between two looks at an agent that plays.
const POLL: Duration = Duration::from_millis(250);
/// So many looks in a row may not fail.
const MISSES: u32 = 3;

#[derive(Debug, Clone)]
pub(super) struct AgentLink {
    agent: Caller,
}

/// How an agent that plays was seen to have ended.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) reason: StopReason,
    pub(super) detail: String,
    pub(super) by: By,
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
        let answer = self.agent.get(path::AGENT_STATUS, STATUS).await?;
        let status = PeerStatus::parse(&answer.body);
        status.ok_or_else(|| self.agent.unreachable("its status makes no sense"))
    }

    pub(super) async fn start(&self, task: &Task) -> Result<(), CallError> {
        let started = self.agent.post_json(path::AGENT_TASK_START, task, START);
        started.await.map(drop)
    }

    /// Tells the agent to stop; it may say how it ended.
    pub(super) async fn stop(&self) -> Result<Option<AgentFinished>, CallError> {
        let answer = self.agent.post(path::AGENT_TASK_STOP, STOP).await?;
        Ok(serde_json::from_slice(&answer.body).ok())
    }

    /// Looks at an agent that plays `task_id` until it plays no more, or is gone.
    pub(super) async fn watch(&self, task_id: &str) -> Seen {
        let (mut misses, mut at_rest) = (0, 0);
        // A look that took long is followed by the next at once.
        let mut beats = tokio::time::interval(POLL);
        beats.tick().await;
        loop {
            beats.tick().await;
            match self.status().await {
                Ok(status) => {
                    misses = 0;
                    if let Some(seen) = ended(&status, task_id, &mut at_rest) {
                        return seen;
                    }
                }
                Err(error) => {
                    misses += 1;
                    if misses >= MISSES {
                        return Seen {
                            reason: StopReason::AgentLost,
                            detail: format!("the agent at {error}"),
                            by: By::Us,
                        };
                    }
                }
            }
        }
    }

    /// Waits until the agent neither plays nor stops; with `within` over, or without an answer, it is
    /// not waited for any longer. Says whether it is at rest.
    pub(super) async fn rest(&self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        loop {
            match self.status().await {
                Ok(status) if is_busy(&status) && Instant::now() < deadline => {}
                Ok(status) => return !is_busy(&status),
                Err(_) => return false,
            }
            tokio::time::sleep(POLL / 10).await;
        }
    }
}

pub(super) fn is_busy(status: &PeerStatus) -> bool {
    status.is("RUNNING") || status.is("STOPPING")
}

/// What a status says about the end of a task, if it has ended. An agent at rest may be about to say
/// that it has finished, so it is looked at twice.
fn ended(status: &PeerStatus, task_id: &str, at_rest: &mut u32) -> Option<Seen> {
    if is_busy(status) {
        *at_rest = 0;
        return None;
    }
    let own = |finished: &&AgentFinished| finished.task_id.as_deref() == Some(task_id);
    if let Some(finished) = status.ended.as_ref().filter(own) {
        let (reason, detail) = told(finished);
        return Some(Seen {
            reason,
            detail,
            by: By::Agent(finished.stats.clone()),
        });
    }
    *at_rest += 1;
    if *at_rest < 2 {
        return None;
    }
    let (reason, detail) = if status.is("READY") {
        let detail = "the agent stopped playing without a word";
        (StopReason::AgentError, detail.to_owned())
    } else {
        let state: String = status.state.chars().take(40).collect();
        (
            StopReason::AgentLost,
            format!("the agent knows nothing of the task any more (its state is {state:?})"),
        )
    };
    Some(Seen {
        reason,
        detail,
        by: By::Agent(None),
    })
}

/// What an agent may say about itself. An agent can't know that time is up or that the environment has
/// ended, so claims of that are its own end.
pub(super) fn told(finished: &AgentFinished) -> (StopReason, String) {
    let reason = match finished.reason {
        Some(reason @ (StopReason::Operator | StopReason::AgentError | StopReason::AgentLost)) => {
            reason
        }
        _ => StopReason::Finished,
    };
    let detail = match (&finished.error, reason) {
        (Some(error), _) => format!("the agent says: {error}"),
        (None, StopReason::Finished) => "the agent says that it has finished".to_owned(),
        (None, StopReason::Operator) => "the operator stopped the agent".to_owned(),
        (None, _) => "the agent failed".to_owned(),
    };
    (reason, detail)
}
