//! Whoever sits at the keyboard, as the user of an agent.

use std::io::{BufRead, Read};

use agon_agent::user::{Person, UserError};
use async_trait::async_trait;

use crate::cli::output;

/// Bytes of one answer.
const LONGEST: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Keyboard;

#[async_trait]
impl Person for Keyboard {
    async fn ask(&self, _: &str) -> Result<String, UserError> {
        output::say("your answer (/exit ends the conversation):");
        let read = || {
            let mut line = String::new();
            let read = std::io::stdin().lock().take(LONGEST).read_line(&mut line);
            read.map(|count| (count, line))
        };
        let (tell, told) = tokio::sync::oneshot::channel();
        // A thread of its own: the program's end does not wait for a line that nobody types.
        let thread = std::thread::Builder::new().name("keyboard".to_owned());
        let listening = thread.spawn(move || tell.send(read()).ok());
        listening.map_err(|error| UserError::Nobody(error.to_string()))?;
        match told.await {
            Ok(Ok((0, _))) => Ok(agon_core::user::EXIT.to_owned()),
            Ok(Ok((_, line))) => Ok(line.trim_end().to_owned()),
            Ok(Err(error)) => Err(UserError::Nobody(error.to_string())),
            Err(error) => Err(UserError::Nobody(error.to_string())),
        }
    }
}
