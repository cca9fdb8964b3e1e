//! What server and child tell each other, one JSON object per line.

use std::path::PathBuf;

use agon_agent::play::{Cause, PlayConfig, Task};
use agon_core::{PlayStats, WorldClock};
use agon_desktop::{Cookie, DisplayAddress, Key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::agent_server::{End, Outcome};

/// To the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToChild {
    /// Play this.
    Start(Box<Start>),
    /// Stop it: no key after this.
    Stop { task_id: String, operator: bool },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) task: Task,
    pub(super) display: Display,
    pub(super) clock: WorldClock,
    pub(super) panic_key: Option<Key>,
    pub(super) seed: u64,
}

/// A display with the secret that opens it: only ever sent through a pipe.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Display {
    Socket {
        path: PathBuf,
        /// The content of an authority file.
        authority: String,
    },
    Named(String),
}

impl std::fmt::Debug for Display {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket { path, .. } => f.debug_tuple("Socket").field(path).finish(),
            Self::Named(name) => f.debug_tuple("Named").field(name).finish(),
        }
    }
}

impl From<&DisplayAddress> for Display {
    fn from(address: &DisplayAddress) -> Self {
        match address {
            DisplayAddress::Socket { path, cookie } => Self::Socket {
                path: path.clone(),
                authority: STANDARD.encode(cookie.authority_file()),
            },
            DisplayAddress::Named(name) => Self::Named(name.clone()),
        }
    }
}

impl Display {
    /// `None`: it was not sent by Agon.
    fn address(&self) -> Option<DisplayAddress> {
        match self {
            Self::Socket { path, authority } => {
                let file = STANDARD.decode(authority).ok()?;
                Some(DisplayAddress::Socket {
                    path: path.clone(),
                    cookie: Cookie::from_authority_file(&file)?,
                })
            }
            Self::Named(name) => Some(DisplayAddress::Named(name.clone())),
        }
    }
}

impl Start {
    pub(super) fn new(task: &Task, config: &PlayConfig) -> Self {
        Self {
            task: task.clone(),
            display: Display::from(&config.address),
            clock: config.clock,
            panic_key: config.panic_key,
            seed: config.seed,
        }
    }

    pub(super) fn config(&self) -> Option<PlayConfig> {
        Some(PlayConfig {
            clock: self.clock,
            seed: self.seed,
            panic_key: self.panic_key,
            frames: self.task.num_frames,
            ..PlayConfig::new(self.display.address()?)
        })
    }
}

/// From the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromChild {
    /// The last step is done; hooks still run.
    StepsOver(Report),
    /// All is over. Keys are released.
    Ended(Report),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) task_id: String,
    pub(super) end: WireEnd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stats: Option<PlayStats>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireEnd {
    Finished,
    Stopped,
    Operator,
    Failed,
}

impl Report {
    pub(super) fn new(task_id: &str, outcome: &Outcome) -> Self {
        let (end, error) = match &outcome.end {
            End::Finished => (WireEnd::Finished, None),
            End::Stopped(Cause::Operator) => (WireEnd::Operator, None),
            End::Stopped(_) => (WireEnd::Stopped, None),
            End::Failed(error) | End::Lost(error) => (WireEnd::Failed, Some(error.clone())),
        };
        Self {
            task_id: task_id.to_owned(),
            end,
            error,
            stats: outcome.stats.clone(),
        }
    }

    pub(super) fn outcome(self) -> Outcome {
        let end = match self.end {
            WireEnd::Finished => End::Finished,
            WireEnd::Stopped => End::Stopped(Cause::Asked),
            WireEnd::Operator => End::Stopped(Cause::Operator),
            WireEnd::Failed => End::Failed(self.error.unwrap_or_else(|| "it failed".to_owned())),
        };
        Outcome {
            end,
            stats: self.stats,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_goes_through_the_pipe_and_its_secret_is_not_shown() {
        let cookie = Cookie::random();
        let address = DisplayAddress::Socket {
            path: PathBuf::from("/run/x/X4242"),
            cookie: cookie.clone(),
        };
        let sent = Display::from(&address);
        let json = serde_json::to_string(&sent).unwrap();
        let read: Display = serde_json::from_str(&json).unwrap();
        match read.address() {
            Some(DisplayAddress::Socket { path, cookie: read }) => {
                assert_eq!(path, PathBuf::from("/run/x/X4242"));
                assert_eq!(read, cookie);
            }
            other => panic!("{other:?}"),
        }
        let Display::Socket { authority, .. } = &sent else {
            panic!("{sent:?}")
        };
        assert!(!format!("{sent:?}").contains(authority.as_str()));
        let forged = Display::Socket {
            path: PathBuf::new(),
            authority: STANDARD.encode("x"),
        };
        assert!(forged.address().is_none());
    }

    #[test]
    fn ends_come_back_as_they_were() {
        for end in [
            End::Finished,
            End::Stopped(Cause::Operator),
            End::Stopped(Cause::Asked),
            End::Failed("broken".to_owned()),
        ] {
            let outcome = Outcome::of(end);
            let report = FromChild::Ended(Report::new("a", &outcome));
            let json = serde_json::to_string(&report).unwrap();
            let FromChild::Ended(read) = serde_json::from_str(&json).unwrap() else {
                panic!("{json}")
            };
            assert_eq!(read.outcome(), outcome);
        }
    }
}
