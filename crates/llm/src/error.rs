//! Why a model gave no answer. Every message is free of keys: it can be made here only.

use std::fmt;
use std::time::Duration;

use agon_core::ModelFault;
use agon_core::verdict::TurnEnd;

use crate::key::Scrubber;

/// No message is longer.
const LONGEST: usize = 2_000;

/// Also the status of a quota that is used up, whatever the service gave it.
const PAYMENT_REQUIRED: u16 = 402;

#[derive(Debug, Clone, PartialEq)]
pub struct LlmError {
    pub fault: ModelFault,
    message: String,
    /// How long the service asks us to wait.
    pub retry_after: Option<Duration>,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// Of a call that was given up: how the service had kept it waiting until then.
    pub kept_waiting: Option<ModelFault>,
    /// Which budget is spent, where that is why: `TokenLimit` or `MoneyLimit`.
    pub spent: Option<TurnEnd>,
    /// The service refused it for other calls of the same agent: that agent's own doing.
    pub provoked: bool,
    lasting: bool,
    bound: bool,
}

impl LlmError {
    pub fn new(fault: ModelFault, message: impl fmt::Display) -> Self {
        let message = Scrubber::scrub(&message.to_string());
        Self {
            fault,
            message: message.chars().take(LONGEST).collect(),
            retry_after: None,
            status: None,
            kept_waiting: None,
            spent: None,
            provoked: false,
            lasting: false,
            bound: false,
        }
    }

    /// The same, for a fault of this kind that does not pass: a quota that is used up, a redirect.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// The same, for an answer that is beyond a bound of ours: whoever asked for it asked for too much.
    #[must_use]
    pub(crate) fn of_bound(mut self) -> Self {
        self.bound = true;
        self
    }

    pub(crate) fn is_of_bound(&self) -> bool {
        self.bound
    }

    /// The service had no room for it: nothing is known to be wrong with the request itself.
    pub(crate) fn is_busy(&self) -> bool {
        let busy = match self.fault {
            ModelFault::RateLimit => true,
            ModelFault::Overload => matches!(self.status, Some(503 | 529)),
            _ => false,
        };
        busy && self.passing()
    }

    /// Whether asking again may help.
    pub fn passing(&self) -> bool {
        self.fault.passing() && !self.lasting && self.status != Some(PAYMENT_REQUIRED)
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same with more words.
    pub(crate) fn and(self, words: impl fmt::Display) -> Self {
        let longer = Self::new(self.fault, format_args!("{} ({words})", self.message));
        Self {
            message: longer.message,
            ..self
        }
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.fault, self.message)
    }
}

impl std::error::Error for LlmError {}
