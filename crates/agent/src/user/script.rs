//! A user with prepared replies.

use async_trait::async_trait;

use super::contract::{Heard, Reply, Respondent, UserError};

#[derive(Debug)]
pub(super) struct Script {
    replies: std::vec::IntoIter<String>,
}

impl Script {
    pub(super) fn new(replies: Vec<String>) -> Self {
        Self {
            replies: replies.into_iter(),
        }
    }
}

#[async_trait]
impl Respondent for Script {
    async fn reply(&mut self, _: Heard<'_>) -> Result<Reply, UserError> {
        Ok(self
            .replies
            .next()
            .map_or(Reply::Nothing, Reply::from_words))
    }
}
