//! One step of an agent, as far as it matters for whether it is the same as another: what it did and why,
//! and what came of it. Numbers and times of events don't matter, nor does the number of a cell.

use std::borrow::Cow;

use agon_agent::Answer;
use agon_agent::user::nudge;
use agon_core::observation::ObservationKind;
use agon_core::{Action, Digest, Observation};

/// Longer lines are no message of a compiler that a rule looks at.
const LONGEST_LINE: usize = 500;

/// What came back from a cell ends with such lines of ours.
const TRAILER: [&str; 3] = [
    "[IPython is not installed here:",
    "[Jupyter current working directory:",
    "[Jupyter Python interpreter:",
];

/// Tracebacks name a cell by such words and its number, which goes on with every cell.
const NUMBERED: [&str; 3] = ["Cell In[", "Input In [", "<ipython-input-"];

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
    Run,
    /// Waits, whatever runs.
    Wait,
    /// Waits, if a command runs.
    More,
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
                Action::Run { command, input, .. } if !input && command.trim().is_empty() => {
                    Subject::More
                }
                Action::Run { .. } => Subject::Run,
                Action::Wait { .. } => Subject::Wait,
                Action::Cell { .. } => Subject::Cell,
                _ => Subject::Other,
            },
        }
    }

    /// Whether all it did was to wait for something that goes on.
    pub(super) fn waits(self, observation: &Observation) -> bool {
        match self.subject {
            Subject::More => observation.running,
            Subject::Wait => true,
            _ => false,
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
    /// A command's result.
    Ran {
        status: Option<i32>,
        printed: Digest,
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
    /// `hears_nothing`: what the user answers does not depend on what was said, so it does not matter.
    pub(super) fn new(deed: Deed, observation: &Observation, hears_nothing: bool) -> Self {
        let text = || Digest::of(observation.text.as_bytes());
        let seen = match (observation.kind, deed.subject) {
            (ObservationKind::Error | ObservationKind::Refused, _) => Seen::Error(text()),
            (_, Subject::Message) if hears_nothing || is_nudge(&observation.text) => {
                Seen::Said(Digest::of(b""))
            }
            (_, Subject::Message) => Seen::Said(text()),
            (_, Subject::Run | Subject::More) => Seen::Ran {
                status: observation.exit_status,
                printed: text(),
            },
            (_, Subject::Cell) => Seen::Cell {
                printed: Digest::of(unnumbered(&observation.text).as_bytes()),
                mistake: syntax_error(&observation.text),
            },
            (_, Subject::Wait | Subject::Other) => {
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
    let ours =
        |line: &&str| line.trim().is_empty() || TRAILER.iter().any(|start| line.starts_with(start));
    let mut lines = text.trim().lines().rev().skip_while(ours);
    let last = lines.next()?.trim();
    let wrong = ["SyntaxError: ", "IndentationError: ", "TabError: "];
    let is_wrong = wrong.iter().any(|start| last.starts_with(start));
    (is_wrong && last.len() <= LONGEST_LINE).then(|| last.to_owned())
}

/// The text without the numbers of cells.
fn unnumbered(text: &str) -> Cow<'_, str> {
    if !NUMBERED.iter().any(|words| text.contains(words)) {
        return Cow::Borrowed(text);
    }
    let without = |text: String, words: &&str| {
        let mut parts = text.split(words);
        let mut plain = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            plain += words;
            plain += part.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        plain
    };
    Cow::Owned(NUMBERED.iter().fold(text.to_owned(), without))
}

/// Whether these are the words of a nudge, whichever user says them: they are no news, though the second
/// nudge is not worded as the first.
fn is_nudge(text: &str) -> bool {
    let forms = [(false, 1), (false, u32::MAX), (true, 1), (true, u32::MAX)];
    forms
        .iter()
        .any(|(tags, said)| nudge(*tags, *said).trim() == text.trim())
}
