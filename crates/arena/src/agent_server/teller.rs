//! Tells the evaluator of an end. Nothing waits for it: an evaluator that hangs holds up nobody.

use std::time::Duration;

use reqwest::Client;
use tokio::time::sleep;

use super::machine::Notice;
use crate::error::ArenaError;
use crate::wire::call::{CallError, Caller, client};
use crate::wire::{Token, path};

/// Originals score before they answer, and the answer says nothing.
const ANSWER: Duration = Duration::from_secs(10);

/// Between the tries to tell an evaluator.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(150),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

#[derive(Debug, Clone)]
pub(super) struct Teller {
    client: Client,
    token: Option<Token>,
}

impl Teller {
    pub(super) fn new(token: Option<Token>) -> Result<Self, ArenaError> {
        let client = client()?;
        Ok(Self { client, token })
    }

    /// Tries again only if nothing was taken, and as long as the word still holds: an original would
    /// take it for the end of whatever it judges by then. An original also refuses who has finished
    /// before it has noted that it is evaluating.
    pub(super) async fn tell(&self, notice: Notice, holds: impl Fn() -> bool) {
        let evaluator = Caller::new(self.client.clone(), notice.to, self.token.clone());
        let mut pauses = PAUSES.iter();
        while holds() {
            let told = evaluator.post_json(path::EVALUATOR_AGENT_FINISHED, &notice.body, ANSWER);
            match told.await {
                Err(CallError::Absent { .. } | CallError::Refused { status: 400, .. }) => {}
                // What it answers is its business: the task is over for us.
                _ => return,
            }
            let Some(pause) = pauses.next() else { return };
            sleep(*pause).await;
        }
    }
}
