//! What can be checked about a trial, as data. How a check is carried out is the business of the
//! `grade` crate.

use serde_json::Value;

use crate::action::ActionKind;
use crate::answer::AnswerCheck;
use crate::office::{DocumentCheck, SheetCheck};
use crate::sight::SightTest;

#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Shown in reports instead of the description.
    pub name: Option<String>,
    /// Share in partial credit.
    pub weight: f64,
    pub kind: CheckKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CheckKind {
    /// A file of the frozen working folder.
    File { path: String, test: FileTest },
    /// The output of a command run after the agent was cut off.
    CommandOutput {
        command: String,
        stream: Stream,
        tests: Vec<TextTest>,
        /// Expected exit status; `None`: any.
        exit_status: Option<i32>,
    },
    /// A program of `verify/` that says its verdict over a private descriptor.
    Script { path: String, args: Vec<String> },
    /// A program of `verify/`, shown as `/tests` of the container, that writes a reward from 0 to 1 to
    /// `/logs/verifier/reward.txt` or `reward.json`.
    Reward { script: String },
    /// The text given with `finish`.
    ReturnedResult { tests: Vec<TextTest> },
    /// The same, scored by a test that another crate brings.
    Answer(AnswerCheck),
    /// What must and must not stand in the record.
    Events {
        must: Vec<EventPattern>,
        must_not: Vec<EventPattern>,
    },
    /// The last screen, and what stood around it, before the agent was cut off.
    Sight(SightTest),
    /// A spreadsheet of the frozen working folder, read by us.
    Spreadsheet(SheetCheck),
    /// A text document of it.
    Document(DocumentCheck),
    /// Prose for a judge.
    Prose {
        subject: ProseSubject,
        value: String,
    },
    /// Passes when every part does; with `partial`, the score is the weighted share that does.
    All { checks: Vec<Check>, partial: bool },
    /// Passes when one part does; the score is that of the best part.
    Any { checks: Vec<Check> },
}

#[derive(Debug, Clone, PartialEq)]
pub enum FileTest {
    Exists(bool),
    Sha256(crate::digest::Digest),
    Content(Vec<TextTest>),
}

/// A test of a text. All of a check's tests must hold.
#[derive(Debug, Clone, PartialEq)]
pub enum TextTest {
    /// Byte for byte.
    Equals(String),
    OneOf(Vec<String>),
    Contains(String),
    NotContains(String),
    /// A regular expression, found anywhere unless anchored.
    Matches(String),
    /// The text is JSON; `pointer` (RFC 6901, empty: the whole) leads to `equals`.
    Json {
        pointer: String,
        equals: Value,
    },
    /// The text is one number, at most `tolerance` away from `value`.
    Number {
        value: f64,
        tolerance: f64,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
    Both,
}

/// Matches an action of the agent by kind and by a regular expression over its JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPattern {
    pub action: Option<ActionKind>,
    pub matches: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ProseSubject {
    ReturnedResult,
    FinalScreenshot,
    ExpectedFlow,
    CommandOutput { command: String },
}

impl ProseSubject {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ReturnedResult => "returned_result",
            Self::FinalScreenshot => "final_screenshot",
            Self::ExpectedFlow => "expected_flow",
            Self::CommandOutput { .. } => "command_output",
        }
    }
}

impl Check {
    /// How the check is called in reports.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        match &self.kind {
            CheckKind::File { path, .. } => format!("file {path}"),
            CheckKind::CommandOutput { command, .. } => format!("command_output {command}"),
            CheckKind::Script { path, .. } => format!("script {path}"),
            CheckKind::Reward { script } => format!("reward {script}"),
            CheckKind::ReturnedResult { .. } => "returned_result".to_owned(),
            CheckKind::Answer(test) => test.label(),
            CheckKind::Events { .. } => "events".to_owned(),
            CheckKind::Sight(test) => test.label(),
            CheckKind::Spreadsheet(test) => format!("spreadsheet {}", test.path),
            CheckKind::Document(test) => format!("document {}", test.path),
            CheckKind::Prose { subject, .. } => format!("{} (prose)", subject.name()),
            CheckKind::All { .. } => "all".to_owned(),
            CheckKind::Any { .. } => "any".to_owned(),
        }
    }

    /// Whether this check, or a part of it, looks at the agent's actions.
    pub fn asks_for_actions(&self) -> bool {
        match &self.kind {
            CheckKind::Events { .. } => true,
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                checks.iter().any(Self::asks_for_actions)
            }
            _ => false,
        }
    }

    /// Whether this check, or a part of it, looks at the screen or at what stands around it.
    pub fn asks_for_sight(&self) -> bool {
        match &self.kind {
            CheckKind::Sight(_)
            | CheckKind::Prose {
                subject: ProseSubject::FinalScreenshot,
                ..
            } => true,
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                checks.iter().any(Self::asks_for_sight)
            }
            _ => false,
        }
    }

    /// Whether this check, or a part of it, reads letters off the screen.
    pub fn asks_for_reading(&self) -> bool {
        self.any_part(|kind| matches!(kind, CheckKind::Sight(SightTest::Text { .. })))
    }

    /// Whether this check, or a part of it, runs a program of `verify/`, whose word no record holds.
    pub fn runs_scripts(&self) -> bool {
        self.any_part(|kind| matches!(kind, CheckKind::Script { .. } | CheckKind::Reward { .. }))
    }

    /// Whether this check, or a part of it, runs a program in a sandbox.
    pub fn runs_programs(&self) -> bool {
        let runs = |kind: &CheckKind| {
            matches!(
                kind,
                CheckKind::CommandOutput { .. }
                    | CheckKind::Prose {
                        subject: ProseSubject::CommandOutput { .. },
                        ..
                    }
                    | CheckKind::Script { .. }
                    | CheckKind::Reward { .. }
            )
        };
        self.any_part(runs)
    }

    fn any_part(&self, test: impl Fn(&CheckKind) -> bool + Copy) -> bool {
        match &self.kind {
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                checks.iter().any(|check| check.any_part(test))
            }
            kind => test(kind),
        }
    }

    /// Whether this check, or a part of it, needs a judge.
    pub fn needs_judge(&self) -> bool {
        match &self.kind {
            CheckKind::Prose { .. } => true,
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => {
                checks.iter().any(Self::needs_judge)
            }
            _ => false,
        }
    }
}
