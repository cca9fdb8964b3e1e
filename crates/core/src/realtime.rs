//! Tasks whose world moves on by itself, and what is measured while one is played.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::files::FileTree;
use crate::quantity::Seconds;
use crate::secrecy::HostOnly;
use crate::sight::SightTest;

/// How a task is played in real time.
#[derive(Debug, Clone)]
pub struct Realtime {
    /// Part of the title of the window that is played.
    pub window: Option<String>,
    pub clock: WorldClock,
    /// Keys that begin the game, pressed for the agent (`space`).
    pub begin: Option<String>,
    /// Each shows that the world has ended; looked for every `interval`.
    pub ends: HostOnly<Vec<SightTest>>,
    /// The pictures that `ends` look for.
    pub templates: HostOnly<FileTree>,
    pub interval: Seconds,
    /// How many frames of history the agent wants.
    pub frames: u32,
}

/// How the world's time and the agent's go together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorldClock {
    /// The world moves on while the agent thinks.
    #[default]
    Realtime,
    /// The world stands still while the agent thinks, then runs for this long.
    Paused { slice: Seconds },
    /// Every action is carried out this much later.
    Latency { delay: Seconds },
}

impl WorldClock {
    /// What the world runs for between two thoughts unless the task says otherwise.
    pub const SLICE: Seconds = Seconds::millis(250);

    /// A clock by its name, with what stands beside it.
    pub fn named(name: &str, time: Option<Seconds>) -> Result<Self, BadClock> {
        match (name, time) {
            ("realtime", None) => Ok(Self::Realtime),
            ("realtime", Some(_)) => Err(BadClock("`realtime` takes no time".to_owned())),
            ("paused", Some(slice)) if slice.get() == 0.0 => Err(BadClock(
                "a paused world has to run for a while between two thoughts".to_owned(),
            )),
            ("paused", slice) => Ok(Self::Paused {
                slice: slice.unwrap_or(Self::SLICE),
            }),
            ("latency", Some(delay)) => Ok(Self::Latency { delay }),
            ("latency", None) => Err(BadClock(
                "`latency` needs a time, such as `latency: 200ms`".to_owned(),
            )),
            _ => Err(BadClock(format!(
                "`{name}` is no clock: expected realtime, paused or latency"
            ))),
        }
    }
}

/// Why a text is no clock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadClock(String);

/// `realtime`, `paused`, `paused: 0.25`, `latency: 200ms`; an equals sign or a space does as well.
impl FromStr for WorldClock {
    type Err = BadClock;

    fn from_str(text: &str) -> Result<Self, BadClock> {
        let text = text.trim();
        let end = text
            .find(|c: char| matches!(c, ':' | '=') || c.is_whitespace())
            .unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let rest = rest.trim_start();
        let rest = rest.strip_prefix([':', '=']).unwrap_or(rest).trim();
        if end == text.len() {
            return Self::named(name, None);
        }
        let time = Seconds::parse(rest).ok_or_else(|| {
            BadClock(format!(
                "`{rest}` is no time: expected seconds such as 0.25, 1.5s or 200ms"
            ))
        })?;
        Self::named(name, Some(time))
    }
}

/// As [`FromStr`] reads it.
impl fmt::Display for WorldClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Realtime => f.write_str("realtime"),
            Self::Paused { slice } => write!(f, "paused: {slice}"),
            Self::Latency { delay } => write!(f, "latency: {delay}"),
        }
    }
}

/// What was measured while an agent played. Times in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayStats {
    /// From the first step to the last, as the world saw it.
    pub played: f64,
    /// From the keys that began the world to the last picture of it, as the world saw it: what a clock in
    /// the world can show at most. 0 where nobody began it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub world: f64,
    /// Steps of the agent.
    pub steps: u64,
    pub actions: u64,
    pub actions_per_second: f64,
    /// Frames that the agent was given.
    pub frames_seen: u64,
    /// Frames that were on the screen and that it never saw.
    pub frames_missed: u64,
    /// From the last frame that the agent was given to an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Percentiles>,
    /// Scheduled actions.
    pub scheduled: u64,
    /// Carried out more than a few milliseconds late.
    pub scheduled_late: u64,
    pub scheduled_dropped: u64,
    /// Wall time that the world did not see, because it stood still.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: f64,
    /// The longest that a world which is to stand still ran on before it did: how busy this machine was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overrun: f64,
}

/// What an agent that plays in real time has done since the last time that it was told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reactions {
    /// Steps so far.
    pub steps: u64,
    /// Actions so far.
    pub actions: u64,
    /// Frames that it answered by an action since then.
    pub answers: Vec<Reaction>,
}

/// A frame was answered by an action.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    /// When the action was done, in seconds since the trial began.
    pub t: f64,
    /// Since the last frame that the agent was given.
    pub latency: f64,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(value: f64) -> Seconds {
        Seconds::new(value).unwrap()
    }

    #[test]
    fn clocks_as_people_write_them() {
        let (paused, latency) = (
            |value| WorldClock::Paused {
                slice: seconds(value),
            },
            |value| WorldClock::Latency {
                delay: seconds(value),
            },
        );
        for (text, clock) in [
            ("realtime", WorldClock::Realtime),
            (" paused ", paused(0.25)),
            ("paused: 0.5", paused(0.5)),
            ("paused=50ms", paused(0.05)),
            ("latency: 200ms", latency(0.2)),
            ("latency 1.5 s", latency(1.5)),
            ("latency : 0", latency(0.0)),
        ] {
            assert_eq!(text.parse(), Ok(clock), "{text}");
        }
    }

    #[test]
    fn what_is_no_clock_says_why() {
        for (text, why) in [
            ("", "no clock"),
            ("real", "no clock"),
            ("realtime: 1", "takes no time"),
            ("paused: 0", "for a while"),
            ("paused:", "no time"),
            ("latency", "needs a time"),
            ("latency: -1", "no time"),
            ("latency: soon", "no time"),
        ] {
            let error = text.parse::<WorldClock>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(millis in 1u32..100_000, paused: bool) {
            let time = Seconds::millis(millis);
            let clock = match paused {
                true => WorldClock::Paused { slice: time },
                false => WorldClock::Latency { delay: time },
            };
            prop_assert_eq!(clock.to_string().parse(), Ok(clock));
        }

        #[test]
        fn no_text_breaks_it(text in "(paused|latency|realtime|[:= ]|[0-9.]|ms|ß){0,8}") {
            let _ = text.parse::<WorldClock>();
        }
    }
}
