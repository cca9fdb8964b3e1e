//! A user who is a person, reached through whoever owns the keyboard.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::contract::{Heard, Person, Reply, Respondent, UserError};

/// Somebody who has not answered for so long has gone away.
const AWAY: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(super) struct AtKeyboard(pub(super) Arc<dyn Person>);

#[async_trait]
impl Respondent for AtKeyboard {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        self.0.ask(heard.message).await.map(Reply::from_words)
    }

    fn takes(&self) -> Option<Duration> {
        Some(AWAY)
    }
}
