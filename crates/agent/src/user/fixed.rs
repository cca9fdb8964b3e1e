//! A user who always says the same.

use async_trait::async_trait;

use super::contract::{Heard, Reply, Respondent, UserError};

#[derive(Debug)]
pub(super) struct Fixed(pub(super) String);

#[async_trait]
impl Respondent for Fixed {
    async fn reply(&mut self, _: Heard<'_>) -> Result<Reply, UserError> {
        Ok(Reply::from_words(self.0.clone()))
    }
}
