//! One step of an agent, as far as it matters for whether it is the same as another: what it did and why,
//! and what came of it. Numbers and times of events don't matter, nor does what a command printed.

use agon_agent::Answer;
use agon_core::observation::ObservationKind;
use agon_core::{Action, Digest, Observation};

/// Longer lines are no message of a compiler that a rule looks at.
const LONGEST_LINE: usize = 500;

/// What came back from a cell ends with these two lines of ours.
const TRAILER: [&str; 2] = [
    "[Jupyter current working directory:",
    "[Jupyter Python interpreter:",
];

/// What the agent did. The same action for another reason is another deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deed {
    what: Digest,
    subject: Subject,
}

/// What a result is to be seen as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Message,
    /// With the digest of its command.
    Run(Digest),
    Cell,
    Other,
}

impl Deed {
    pub(crate) fn of(answer: &Answer) -> Self {
        let (action, thought) = match answer {
            Answer::Reply(reply) => (&reply.action, reply.thought.as_deref()),
            Answer::NotAnAction { text, .. } => {
                return Self {
                    what: Digest::of_parts([b"no action".as_slice(), text.as_bytes()]),
                    subject: Subject::Other,
                };
            }
        };
        let written = serde_json::to_vec(action).unwrap_or_default();
        let thought = thought.unwrap_or_default().as_bytes();
        Self {
            what: Digest::of_parts([b"action".as_slice(), &written, thought]),
            subject: match action {
                Action::Message { .. } => Subject::Message,
                Action::Run { command, .. } => Subject::Run(Digest::of(command.as_bytes())),
                Action::Cell { .. } => Subject::Cell,
                _ => Subject::Other,
            },
        }
    }
}

/// What came of a deed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// The user's answer, or silence. Not the environment's doing.
    Said(Digest),
    /// It could not be done, or was not allowed.
    Error(Digest),
    /// A command's result: what it printed counts only while it runs, when it shows that it gets on.
    Ran {
        command: Digest,
        status: Option<i32>,
        printed: Option<Digest>,
    },
    /// A cell's result, and the line that says why its code is no Python.
    Cell {
        printed: Digest,
        mistake: Option<String>,
    },
    Other(Digest),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) deed: Deed,
    pub(super) seen: Seen,
}

impl Step {
    pub(super) fn new(deed: Deed, observation: &Observation) -> Self {
        let text = || Digest::of(observation.text.as_bytes());
        let seen = match (observation.kind, deed.subject) {
            (ObservationKind::Error | ObservationKind::Refused, _) => Seen::Error(text()),
            (_, Subject::Message) => Seen::Said(text()),
            (_, Subject::Run(command)) => Seen::Ran {
                command,
                status: observation.exit_status,
                printed: observation.running.then(text),
            },
            (_, Subject::Cell) => Seen::Cell {
                printed: text(),
                mistake: syntax_error(&observation.text),
            },
            (_, Subject::Other) => {
                let whole = serde_json::to_vec(observation).unwrap_or_default();
                Seen::Other(Digest::of(&whole))
            }
        };
        Self { deed, seen }
    }

    pub(super) fn is_message(&self) -> bool {
        matches!(self.seen, Seen::Said(_))
    }
}

/// The last line of a cell's result if it says that the code can't be read.
fn syntax_error(text: &str) -> Option<String> {
    let ours = |line: &&str| TRAILER.iter().any(|start| line.starts_with(start));
    let mut lines = text.trim().lines().rev().skip_while(ours);
    let last = lines.next()?.trim();
    let wrong = ["SyntaxError: ", "IndentationError: ", "TabError: "];
    let is_wrong = wrong.iter().any(|start| last.starts_with(start));
    (is_wrong && last.len() <= LONGEST_LINE).then(|| last.to_owned())
}
