//! A function of the state as the user of a task.

use std::fmt;

use agon_core::user::UserVoice;
use agon_core::{Digest, Event};

use crate::config::AppConfig;
use crate::metrics::ModelNames;
use crate::state::{Bounds, State};

/// Answers an agent's message; `/exit` ends the conversation.
pub(super) struct FakeUser<F> {
    user: F,
    agent: String,
    models: ModelNames,
    bounds: Bounds,
}

impl<F> FakeUser<F> {
    pub(super) fn new(user: F, config: &AppConfig) -> Self {
        Self {
            user,
            agent: config.default_agent.clone(),
            models: config.model_names(),
            bounds: config.bounds(),
        }
    }
}

impl<F: Fn(&State) -> String + Send + Sync> UserVoice for FakeUser<F> {
    /// The program decides what it says: nobody else goes on with its runs.
    fn digest(&self) -> Digest {
        Digest::of(b"a function of the program")
    }

    fn reply(&self, so_far: &[Event]) -> String {
        let (agent, models) = (&self.agent, &self.models);
        (self.user)(&State::so_far(so_far, agent, models, self.bounds))
    }
}

impl<F> fmt::Debug for FakeUser<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeUser")
    }
}
