//! Where a task is played: kind and limits of the environment. Closed by default: no network, no
//! host files, bounded memory, processes and disk.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::ActionKind;
use crate::quantity::ByteSize;
use crate::settle::SettleTime;

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentKind {
    /// Nothing but a conversation.
    None,
    /// A bubblewrap sandbox on this machine.
    Local,
    /// A container of `image`.
    Container,
    /// A desktop with a screen.
    Desktop,
}

impl EnvironmentKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Local => "local",
            Self::Container => "container",
            Self::Desktop => "desktop",
        }
    }

    /// The actions that can be carried out in such an environment at all.
    pub const fn able_actions(self) -> &'static [ActionKind] {
        match self {
            Self::None => self.default_actions(),
            Self::Local | Self::Container => &[
                ActionKind::Run,
                ActionKind::Cell,
                ActionKind::Browse,
                ActionKind::Read,
                ActionKind::Write,
                ActionKind::Edit,
                ActionKind::Insert,
                ActionKind::Undo,
                ActionKind::Message,
                ActionKind::Think,
                ActionKind::Finish,
                ActionKind::Reject,
                ActionKind::Wait,
            ],
            Self::Desktop => &ActionKind::ALL,
        }
    }

    /// The actions that a task in such an environment allows unless it names its own.
    pub const fn default_actions(self) -> &'static [ActionKind] {
        use ActionKind as A;
        match self {
            Self::None => &[A::Message, A::Think, A::Finish, A::Reject],
            Self::Local | Self::Container => &[
                A::Run,
                A::Cell,
                A::Read,
                A::Write,
                A::Edit,
                A::Insert,
                A::Undo,
                A::Message,
                A::Think,
                A::Finish,
                A::Reject,
                A::Wait,
            ],
            Self::Desktop => &[
                A::Key,
                A::KeyDown,
                A::KeyUp,
                A::Type,
                A::Move,
                A::Click,
                A::Drag,
                A::Scroll,
                A::Wait,
                A::Screenshot,
                A::Message,
                A::Think,
                A::Finish,
                A::Reject,
            ],
        }
    }
}

impl fmt::Display for EnvironmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No network at all, not even the host's loopback.
    #[default]
    None,
    /// One that leads past this machine to others (in a container: the engine's default one). Recorded in
    /// every report.
    Open,
}

/// Where the checks of a task in a container are carried out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grading {
    /// The agent's container is killed first. Checks run in fresh ones of the same image over all that
    /// was changed.
    #[default]
    Fresh,
    /// In the container that the agent used, after all of its processes were ended.
    Used,
    /// There, too, and what the agent started goes on.
    Alive,
}

impl Grading {
    pub const fn is_fresh(&self) -> bool {
        matches!(self, Self::Fresh)
    }
}

/// Exact on purpose: it is part of the resume key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    pub kind: EnvironmentKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    pub network: Network,
    pub memory: ByteSize,
    pub processes: u32,
    /// Container only: how many processors its programs may use together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Size of the working folder.
    pub disk: ByteSize,
    /// Extra environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Container only: the working folder, in place of `/work`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Container, or desktop with an image: where checks run.
    #[serde(default, skip_serializing_if = "Grading::is_fresh")]
    pub grading: Grading,
    /// Desktop only: `WIDTHxHEIGHT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    /// Desktop only: programs to start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apps: Vec<String>,
    /// Local sandboxes and desktops without an image: programs shown read-only at
    /// [`Environment::PROGRAMS`], which is on `PATH`. A name is that of a program of this machine,
    /// beside Agon's own or on its `PATH`; a path with a slash is one inside of the suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Desktop only: OpenGL, computed by the processor. Costs 53 MB and 22 ms per desktop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gl: bool,
    /// Desktop only: how long to wait, at least and at most, for the screen to come to rest after an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<SettleTime>,
    /// Trials of the same group never run at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl Environment {
    /// Where `programs` are shown.
    pub const PROGRAMS: &str = "/opt/agon/bin";

    /// Whether it is played in a container.
    pub const fn is_container(&self) -> bool {
        match self.kind {
            EnvironmentKind::Container => true,
            EnvironmentKind::Desktop => self.image.is_some(),
            EnvironmentKind::None | EnvironmentKind::Local => false,
        }
    }

    pub fn of_kind(kind: EnvironmentKind) -> Self {
        Self {
            kind,
            image: None,
            network: Network::None,
            memory: ByteSize::mib(1024),
            processes: 256,
            cpus: None,
            disk: ByteSize::mib(256),
            env: BTreeMap::new(),
            cwd: None,
            grading: Grading::Fresh,
            screen: None,
            apps: Vec::new(),
            programs: Vec::new(),
            gl: false,
            settle: None,
            group: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Seconds;

    /// It is part of the resume key: a key that a task does not use must not change it.
    #[test]
    fn what_a_task_does_not_say_is_not_written() {
        let json = |environment: &Environment| serde_json::to_string(environment).unwrap();
        let mut desktop = Environment::of_kind(EnvironmentKind::Desktop);
        assert_eq!(
            json(&desktop),
            r#"{"kind":"desktop","network":"none","memory":1073741824,"processes":256,"disk":268435456}"#
        );
        desktop.programs = vec!["game".to_owned()];
        desktop.gl = true;
        desktop.settle = Some(SettleTime::at_most(Seconds::millis(500)));
        let text = json(&desktop);
        assert!(
            text.ends_with(r#","programs":["game"],"gl":true,"settle":0.5}"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), desktop);
    }
}
