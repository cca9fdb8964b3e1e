//! What can go wrong with a desktop, and whose doing it was.

use std::io;
use std::time::Duration;

use agon_core::FaultClass;

use crate::geometry::Size;

#[derive(Debug, thiserror::Error)]
pub enum DesktopError {
    /// A program or an extension that is not there; the message says how to get it.
    #[error("{0}")]
    Missing(String),
    #[error("the desktop did not start: {0}")]
    Start(String),
    /// The X server does not answer any more, or its connection is broken.
    #[error("the desktop is gone: {0}")]
    Gone(String),
    #[error("{what} took longer than {} s", within.as_secs_f64())]
    Timeout { what: String, within: Duration },
    #[error("({x}, {y}) is outside of the screen of {size}: 0 to {}, 0 to {}", size.width.saturating_sub(1), size.height.saturating_sub(1))]
    Outside { x: i32, y: i32, size: Size },
    #[error(
        "`{wanted}` is no key{}: use a name such as Right, space, F10, a single character, a combination such as ctrl+shift+t, or a virtual-key number such as 0x27",
        nearest_in_words(nearest.as_deref())
    )]
    NoSuchKey {
        wanted: String,
        nearest: Option<String>,
    },
    #[error("no window has `{wanted}` in its title; {}", titles_in_words(titles))]
    NoSuchWindow { wanted: String, titles: Vec<String> },
    /// The caller asks for something that makes no sense; the message says what would.
    #[error("{0}")]
    Invalid(String),
    /// The server can't do what is asked for.
    #[error("{0}")]
    Unsupported(String),
    /// A fault of the program that listens, not of the desktop.
    #[error("the callback of a listener panicked: {0}")]
    Callback(String),
    #[error("{context}: {source}")]
    Io { context: String, source: io::Error },
}

impl DesktopError {
    pub fn io(context: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let context = context.into();
        move |source| Self::Io { context, source }
    }

    /// The caller's mistake: an answer for the agent, never a fault.
    pub fn is_callers(&self) -> bool {
        matches!(
            self,
            Self::Outside { .. }
                | Self::NoSuchKey { .. }
                | Self::NoSuchWindow { .. }
                | Self::Invalid(_)
        )
    }

    pub fn fault_class(&self) -> FaultClass {
        match self {
            Self::Missing(_) | Self::Start(_) => FaultClass::Start,
            Self::Timeout { .. } => FaultClass::Timeout,
            _ => FaultClass::Environment,
        }
    }
}

fn nearest_in_words(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!(" (did you mean `{nearest}`?)")
    })
}

fn titles_in_words(titles: &[String]) -> String {
    if titles.is_empty() {
        return "there are no windows".to_owned();
    }
    let quoted: Vec<String> = titles.iter().map(|title| format!("`{title}`")).collect();
    format!("there are: {}", quoted.join(", "))
}
