//! An agent that is a program with pipes, wherever it runs: the conversation, its complaints and
//! its end. Knows nothing of how the program was started.

use std::time::Duration;

use agon_core::{Brief, Observation};
use agon_sandbox::{Exit, Piped};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::contract::{AgentError, Answer, Pictures};
use crate::lines::Conversation;
use crate::tail::Tail;
use crate::wire::{self, Message};

/// How long a program may take to leave when asked, and to be taken down.
const GRACE: Duration = Duration::from_secs(1);

/// Dropping it kills the program, as dropping what it was made of does.
#[derive(Debug)]
struct Program {
    conversation: Conversation,
    complaints: Tail,
    /// `None` once the exit was seen.
    exit: Option<oneshot::Receiver<Exit>>,
    trial: String,
    step: u32,
    pictures: Pictures,
}

impl Program {
    /// Takes over a program that was just started. The `start` message goes out with the first
    /// observation: nothing waits for the agent before its first step.
    fn new(piped: Piped, brief: &Brief) -> Result<Self, AgentError> {
        let mut conversation = Conversation::new(piped.stdin, piped.stdout);
        conversation.queue(&Message::start(brief))?;
        Ok(Self {
            conversation,
            complaints: Tail::of(piped.stderr),
            exit: Some(piped.exit),
            trial: brief.trial.clone(),
            step: 0,
            pictures: Pictures::default(),
        })
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        self.step += 1;
        let message = Message::observation(&self.trial, self.step, observation, self.pictures);
        self.conversation.queue(&message)?;
        match self.conversation.answer().await? {
            Some(line) => {
                let answer = wire::read_answer(&line)?;
                self.pictures = answer.pictures().unwrap_or(self.pictures);
                Ok(answer)
            }
            None => Err(self.gone().await),
        }
    }

    /// Its output is closed: did it leave, or did it crash?
    async fn gone(&mut self) -> AgentError {
        let Some(exit) = self.wait().await else {
            // It closed its output and lives on, but has nothing more to say.
            return AgentError::Left;
        };
        self.complaints.finish(GRACE).await;
        match exit {
            Exit::Code(0) => AgentError::Left,
            exit => AgentError::Crashed(match self.complaints.last_lines() {
                Some(lines) => format!("{exit}: {lines}"),
                None => exit.to_string(),
            }),
        }
    }

    async fn wait(&mut self) -> Option<Exit> {
        let exit = timeout(GRACE, self.exit.as_mut()?).await.ok()?;
        self.exit = None;
        // Without a word on how it ended, whatever ran it was taken down from below.
        Some(exit.unwrap_or(Exit::Signal(9)))
    }

    /// Says goodbye and gives the program a moment to leave by itself.
    async fn end(&mut self) {
        let farewell = Message::End { trial: &self.trial };
        // An agent that has not read for long misses nothing.
        let _ = self.conversation.queue(&farewell);
        self.conversation.close(GRACE).await;
        if self.wait().await.is_some() {
            self.complaints.finish(GRACE).await;
        }
    }

    fn complaints(&self) -> Option<String> {
        self.complaints.text()
    }
}

/// The program of a trial's agent: none until it was started.
#[derive(Debug, Default)]
pub(crate) struct Started(Option<Program>);

impl Started {
    pub(crate) fn take_over(&mut self, piped: Piped, brief: &Brief) -> Result<(), AgentError> {
        self.0 = Some(Program::new(piped, brief)?);
        Ok(())
    }

    pub(crate) async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        match &mut self.0 {
            Some(program) => program.act(observation).await,
            None => Err(AgentError::Left),
        }
    }

    pub(crate) async fn end(&mut self) {
        if let Some(program) = &mut self.0 {
            program.end().await;
        }
    }

    pub(crate) fn complaints(&self) -> Option<String> {
        self.0.as_ref()?.complaints()
    }
}
